"""`python -m mcp_server`: the MCP server on stdio."""

from mcp_server.doors.server import main

if __name__ == "__main__":
    main()
