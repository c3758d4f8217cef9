"""Other memory systems stood in for: each offers the names, schemas and texts that its own clients expect."""
