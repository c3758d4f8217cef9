"""Many programs that write one data directory at once, while a supervisor kills, stops, starves and misleads them."""
