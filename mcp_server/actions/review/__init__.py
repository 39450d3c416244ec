"""What waits for the person, and what their answers do."""
