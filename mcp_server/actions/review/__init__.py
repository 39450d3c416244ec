"""What waits for the person, and what becomes of it when they say so."""
