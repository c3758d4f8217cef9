"""The gate: which writes wait for a person, and how a decision is carried out."""
