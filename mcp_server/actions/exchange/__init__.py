"""What comes in from other places and goes out to them: imports, documents, exports, other clients."""
