"""Finding memories by words, by meaning and token by token."""
