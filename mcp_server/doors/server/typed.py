"""The command by which the person makes a whole change that Claude may not make: they type no word anew."""

import shlex
from collections.abc import Callable, Sequence

from mcp_server.actions.judge.change_memory import Wanted
from mcp_server.core.memory import LISTS
from mcp_server.core.memory_parts import as_one_text
from mcp_server.core.render import one_line, visible
from mcp_server.core.sessions.snapshot import as_json


def revise(memory_id: str, wanted: Wanted, *, version: str = "", keep_secrets: bool = False) -> str:
    """
    Return what the person types, after `daybook`, to change a memory as *wanted*.

    The command line has no list of links to give: they are left out.
    """
    revision, name = wanted.revision, one_line(memory_id, 80)
    given = {
        "--title": revision.title,
        "--text": revision.text,
        "--type": revision.type,
        **{key.option: _one_text(getattr(revision, key.name), key.as_text) for key in LISTS},
        "--touches": _one_text(revision.touches, as_one_text),
        "--category": revision.category,
        "--level": wanted.level.value if wanted.level else None,
        "--version": version or None,
    }
    options = [word for option, value in given.items() if value is not None for word in (option, value)]
    options += [word for old in wanted.supersedes for word in ("--supersedes", old)]
    options += [word for other in wanted.distinct for word in ("--distinct", other)]
    for key, value in wanted.metadata.items():
        written = "" if value is None else value if isinstance(value, str) else as_json(value)
        options += ["--meta", f"{key}={written}"]
    options += ["--keep-secrets"] if keep_secrets and options else []
    commands = [f"{'pin' if revision.pinned else 'unpin'} {name}"] if revision.pinned is not None else []
    commands += [shlex.join(["revise", name, *options])] if options or not commands else []
    return visible(" && daybook ".join(commands))


def _one_text(texts: tuple[str, ...] | None, write: Callable[[Sequence[str]], str]) -> str | None:
    return None if texts is None else write(texts)
