"""The views beside the list of memories: history, timeline, links, ranking, facets."""
