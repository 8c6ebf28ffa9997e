"""The database: tables, the one writer of SQLite or the pool of PostgreSQL, and how its form came to be."""
