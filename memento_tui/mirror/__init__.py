"""A folder of notes and the memories, kept in step both ways."""
