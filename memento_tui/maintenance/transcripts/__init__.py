"""Read the transcripts of agents' hosts."""
