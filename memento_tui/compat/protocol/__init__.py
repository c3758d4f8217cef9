"""Memento Protocol's MCP tools over memento: its names, parameters, defaults and texts, and memento's gate."""
