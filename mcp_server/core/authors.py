"""Who changes memories, as the ledger and the history name them."""

PERSON, CLAUDE, MODEL, TIDY = "person", "claude", "model", "tidy"
"""In a terminal, in a session, while it learns from one, during upkeep."""
