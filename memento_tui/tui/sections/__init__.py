"""The sections of the app, each a widget of its own; `SECTIONS` in `memento_tui.tui.app` lists them."""
