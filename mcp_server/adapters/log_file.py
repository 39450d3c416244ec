"""The warnings of the server and the worker: written to files of the store, with secrets masked."""

import logging
import logging.handlers
import sys
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.core.secrets.redaction import redact

MOST_BYTES = 1_000_000  # of one file
KEPT = 2  # older files


class _Masking(logging.Formatter):
    """Masks whole lines, tracebacks included: an error may quote the person's text."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def send_warnings_to(path: Path) -> None:
    """Send this process's warnings to *path* and at most KEPT older files; to stderr where that fails."""
    logging.raiseExceptions = False  # a failing log would print its message unmasked
    handler: logging.Handler
    try:
        files.make_folder(path.parent)
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=MOST_BYTES, backupCount=KEPT, encoding="utf-8", delay=True
        )
    except OSError:
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Masking("%(asctime)s %(process)d %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
