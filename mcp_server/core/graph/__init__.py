"""Memories and links as a graph, as text and as a picture."""
