"""What of a session is worth keeping, whose words it is, and what a model is asked about it."""
