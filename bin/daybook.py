"""Daybook's launcher on Windows, started by daybook.cmd and daybook.exe; the package has all of it."""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036  that is what is asked here
    sys.exit("daybook: Python 3.11 or newer is needed; this one is " + sys.version.split()[0])
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from mcp_server.doors.launch import main

main()
