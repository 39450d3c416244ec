"""The SQLite file: its schema, its connections, and what happens when it is damaged."""
