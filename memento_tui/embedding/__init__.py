"""The background engine: one process per data directory that embeds memories and answers semantic queries.

Nothing waits for it: it is not needed for a write, for browsing, or for keyword search.
"""
