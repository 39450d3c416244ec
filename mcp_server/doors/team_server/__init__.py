"""A team's server: its memory over MCP, for every member with a token."""
