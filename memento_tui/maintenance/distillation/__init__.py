"""Find what is worth remembering in a transcript."""
