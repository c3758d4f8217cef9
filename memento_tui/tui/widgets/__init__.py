"""Widgets that screens are made of. None of them reads or writes the database by itself."""
