"""The dialogs that open above a section."""
