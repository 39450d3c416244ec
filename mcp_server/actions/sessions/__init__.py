"""What happened in which session, what was given to it, and how one is forgotten."""
