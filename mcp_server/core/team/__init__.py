"""A team's memory: who may do what in it."""
