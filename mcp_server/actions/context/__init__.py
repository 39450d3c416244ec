"""What Claude is told unasked: the brief, the memories a prompt calls for, the managed block, notices."""
