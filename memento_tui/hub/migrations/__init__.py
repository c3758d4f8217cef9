"""The numbered scripts that bring a hub's schema to the present version."""
