"""Text itself: sentences, words, numbers, units, differences. Nothing here knows of memories."""
