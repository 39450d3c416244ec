"""What Daybook shows within a budget: the brief, the managed block, the current work."""
