"""What Claude is shown unasked: the brief, the memories a prompt calls for, the managed block, notices."""
