"""The command line. Each module holds the commands of one subject; `main` finds them without importing the rest."""
