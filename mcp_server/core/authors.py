"""The authors of changes to memories, as the ledger and the history name them."""

PERSON, CLAUDE, MODEL, TIDY, ELSEWHERE = "person", "claude", "model", "tidy", "elsewhere"
"""
The person in a terminal, Claude in a session, the model that learns from a session, tidying, and an author on
another machine of the person's.
"""
