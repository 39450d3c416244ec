"""The lines that a client sends, as the protocol library can read them."""

import io
import re

# Of characters, as JSON escapes them: a pair is one character, and two backslashes are one.
_HALVES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


class Lines(io.TextIOWrapper):
    """What a client sends, without half characters: the protocol library does not answer a line with one."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        line = super().readline(size)
        if "\\ud" not in line and "\\uD" not in line:
            return line
        return _HALVES.sub(lambda found: r"\ufffd" if found[1] else found[0], line)
