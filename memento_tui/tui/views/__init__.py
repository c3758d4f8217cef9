"""What stands beside the list of memories in place of the text: history, timeline, links, weight, facets."""
