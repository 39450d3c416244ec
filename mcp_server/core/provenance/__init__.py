"""Where words come from, and whether they may enter the context unasked."""
