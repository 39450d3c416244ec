"""`python -m mcp_server.doors.cli`: the command line."""

from mcp_server.doors.cli import main

if __name__ == "__main__":
    main()
