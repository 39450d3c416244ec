"""Which test files need more than Windows has: who names such a thing is skipped there, and says why."""

import re

NEEDS = {  # what a test file names: why it is not run on Windows
    r"^import (fcntl|grp|pty|pwd|resource|termios|tty)\b": "a module of POSIX",
    r"\bos\.(fork|mkfifo|killpg|getuid|geteuid|uname|umask|openpty|statvfs|WIF\w+)\b": "a call of POSIX",
    r"\bsignal\.SIG(?!INT\b|TERM\b)": "a signal of POSIX",
    r"symlink_to\(|os\.symlink\(": "symbolic links, which a person may not make there",
    r"\.chmod\(|st_mode": "the modes of POSIX",
    r"/bin/sh|/proc/": "programs or files of POSIX",
    r'"bin" / "daybook"|bin/daybook"': "the launcher for POSIX",
    r"tests\.(machine|terminal)\b|durability\.(stepped|conftest)|from tests\.safety": "a helper for POSIX",
    r"\btyped=": "a terminal of POSIX",
    r"^from harness\.terminal|needs_tmux": "tmux",
}


def lacking_on_windows(source: str) -> str:
    """Return what Windows lacks for a test file with the text *source*, '' for nothing."""
    return next((why for pattern, why in NEEDS.items() if re.search(pattern, source, re.MULTILINE)), "")
