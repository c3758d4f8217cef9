"""The tools, a module for each subject. The docstring of a tool is what the model reads about it."""
