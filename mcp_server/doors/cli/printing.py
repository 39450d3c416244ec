"""printing: a command's standard output, which may be closed, or go into a file on a full disk."""

import io
import os
import sys
from typing import Any

from mcp_server.core.errors import DaybookError


class CannotPrint(DaybookError):
    """The answer could not be written; what the command did before is done."""

    exit_code = 9


class _Output(io.FileIO):
    """The standard output: its first refusal is CannotPrint, not one of the store; the rest is dropped."""

    refused = False

    def write(self, data: Any, /) -> int:
        if self.refused:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except BrokenPipeError:  # who reads has read enough
            raise
        except OSError as error:
            self.refused = True
            raise CannotPrint(
                f"The answer cannot be printed: {error.strerror}.", "What was asked for is done."
            ) from error


def open_output() -> None:
    """Make `sys.stdout` say by CannotPrint that it refuses; what is printed to a closed one is dropped."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until we end
        return
    try:
        descriptor = sys.stdout.fileno()
    except io.UnsupportedOperation:  # a program of Python's that collects what is printed
        return
    if sys.stdout.isatty():  # never full, and on Windows more than a file
        return
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Output(descriptor, "w", closefd=False)),
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
    )
