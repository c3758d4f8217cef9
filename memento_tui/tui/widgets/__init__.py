"""The widgets of sections and screens. None of them reads or writes the database itself."""
