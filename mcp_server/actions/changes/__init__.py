"""What a memory said before, and taking back what was done."""
