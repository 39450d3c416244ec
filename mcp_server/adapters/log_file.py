"""The warnings of the server and the worker: written to files of the store, with secrets masked."""

import logging
import sys
from pathlib import Path

from mcp_server.adapters import files
from mcp_server.core.secrets.redaction import redact

MOST_BYTES = 1_000_000  # of one file
KEPT = 2  # older files


class _Rotating(logging.Handler):
    """Opens the file at *path* for the first warning; most have none, and `logging.handlers` loads slowly."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._file is None:
            from logging.handlers import RotatingFileHandler

            self._file = RotatingFileHandler(
                self._path, maxBytes=MOST_BYTES, backupCount=KEPT, encoding="utf-8", delay=True
            )
            self._file.setFormatter(self.formatter)
        self._file.handle(record)


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
        handler = _Rotating(path)
    except OSError:
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Masking("%(asctime)s %(process)d %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
