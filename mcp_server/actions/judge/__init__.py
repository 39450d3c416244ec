"""How something new stands to what is known, whose word it is, and what waits to be decided."""
