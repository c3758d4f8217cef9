"""The files, databases and servers of Memento Protocol."""
