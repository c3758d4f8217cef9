"""The terminal application: screens, widgets, and the one way for text to reach a terminal."""
