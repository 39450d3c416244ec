"""
`daybook work`: the worker, a process without a terminal that the hooks start and do not wait for.

`python -m mcp_server.doors.worker`. Its errors are in `logs/worker.log`.
"""

import logging
import os

from mcp_server.actions.upkeep.work import work
from mcp_server.adapters.heap import share_one_arena
from mcp_server.adapters.log_file import send_warnings_to
from mcp_server.adapters.priority import yield_to_others
from mcp_server.bootstrap import Opened
from mcp_server.core.authors import MODEL


def main() -> None:
    """Do the pending work, then end; always with exit code 0, because no process reads it."""
    os.umask(0o077)
    share_one_arena()
    yield_to_others()
    opened = Opened(by=lambda: MODEL)
    send_warnings_to(opened.home / "logs" / "worker.log")
    try:
        work(lambda folder: opened.store(folder=folder))
    except Exception:  # logged once; the next worker tries the same work again
        logging.getLogger(__name__).exception("the worker stopped")
    logging.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main()
