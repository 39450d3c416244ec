"""import: take in what other memory tools keep, once, and what changes there afterwards."""
