"""What a member of a team does: joining, the copy of what is confirmed, giving, confirming."""
