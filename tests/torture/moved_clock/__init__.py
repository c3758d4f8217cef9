"""Found first by the programs of a run: their clock is days off the real one, as a file says that each call reads."""
