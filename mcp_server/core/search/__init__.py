"""Queries, the ranking of memories, and how far an answer can be relied on."""
