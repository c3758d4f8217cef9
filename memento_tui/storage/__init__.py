"""The store: SQLite with a hash-chained journal. The only place with SQL."""
