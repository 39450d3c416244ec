"""What happened in which session, what was given to it, and forgetting one."""
