"""What can be asked, how memories are ranked, and how far an answer is relied on."""
