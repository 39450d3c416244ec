"""Words, languages, and how two texts compare."""
