"""The gate: which writes wait for a person, and what a person's decision does."""
