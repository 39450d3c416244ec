"""Which parts of a session are worth keeping, whose words they are, and what a model is asked about them."""
