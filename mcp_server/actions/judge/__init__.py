"""Compare a new memory with the known ones, find whose word it is, and keep what waits for a decision."""
