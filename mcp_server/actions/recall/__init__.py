"""Finding the memories that answer a question, and what they are shown as."""
