"""Find the memories that answer a question, and how they are shown."""
