"""What opens above a section: questions, the choice in a conflict, the keys."""
