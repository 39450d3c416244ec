"""The authors of changes to memories, as the ledger and the history name them."""

PERSON, CLAUDE, MODEL, TIDY = "person", "claude", "model", "tidy"
"""The person in a terminal, Claude in a session, the model that learns from a session, tidying."""
