"""memento: see and govern what your AI agent remembers."""
