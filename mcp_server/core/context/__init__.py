"""What is told within a budget: the brief, the managed block, the work at hand."""
