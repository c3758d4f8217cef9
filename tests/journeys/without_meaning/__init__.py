"""In the PYTHONPATH of a process this folder makes the packages of the extra `meaning` absent."""
