"""The person's own store behind the port of a storage."""
