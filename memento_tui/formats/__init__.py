"""Import and export: one module for each format, and nothing here that knows the store."""
