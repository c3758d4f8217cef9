"""The tools, a module for each subject. The docstring of a tool is the description that the model reads."""
