"""Search: one query language and its syntax tree, the keyword index, the semantic client, fusion and ranking."""
