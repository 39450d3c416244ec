"""import: take in once what other memory tools keep, and later what changed there."""
