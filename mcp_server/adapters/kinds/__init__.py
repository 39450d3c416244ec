"""What kind a text is of, told by its embedding: what calls for memories, and what settles something."""
