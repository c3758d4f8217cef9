"""Find memories that cannot both hold."""
