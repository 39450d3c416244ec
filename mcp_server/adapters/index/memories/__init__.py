"""Memories in the index: their rows, and choosing among them."""
