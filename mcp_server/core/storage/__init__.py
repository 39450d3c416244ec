"""Where memories are kept: the port of a storage."""
