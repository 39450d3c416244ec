"""`python -m mcp_server`: the MCP server on stdio."""

import gc

if __name__ == "__main__":
    gc.disable()  # until all code is loaded, which stays: looking through it takes a tenth of the start
    from mcp_server.doors.server import main

    main()
