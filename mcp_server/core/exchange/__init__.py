"""What other tools, documents and clients keep, as text."""
