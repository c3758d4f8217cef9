"""The sections of the app, each a widget of its own; `memento_tui.app_sections.SECTIONS` lists them."""
