"""A team's memory in PostgreSQL: members, memories, and the search for them."""
