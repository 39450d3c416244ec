"""The names of a knowledge graph for memories and their links."""
