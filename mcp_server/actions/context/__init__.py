"""What Claude is told unasked: the brief, what a prompt calls for, the managed block, notices."""
