"""Group memories that belong together and draft what could stand for them."""
