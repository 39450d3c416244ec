"""
A saved session as markdown: its context, then lists of files, variables and open tasks.

Every entry is one line, so that no value can be taken for an entry of another list. A variable is written as
JSON, so that it keeps its type: `8080` is a number, `"8080"` a text.
"""

import json
import re
from collections.abc import Mapping, Sequence

FILES, VARIABLES, TASKS = "## Files", "## Variables", "## Open tasks"
_PLAIN_NAME = re.compile(r"[\w.-]+(?: [\w.-]+)*")
_VARIABLE = re.compile(r'- (?P<name>"(?:[^"\\]|\\.)*"|[^":][^:]*): (?P<value>.*)')
_TASK = re.compile(r"- \[ \] (?P<task>.+)")


def render_snapshot(
    context: str, files: Sequence[str], variables: Mapping[str, object], tasks: Sequence[str]
) -> str:
    """Return the body of a session's file."""
    lists = (
        (FILES, [f"- {_line(name)}" for name in files]),
        (VARIABLES, [f"- {_name(name)}: {as_json(value)}" for name, value in variables.items()]),
        (TASKS, [f"- [ ] {_line(task)}" for task in tasks]),
    )
    parts = [f"{heading}\n\n" + "\n".join(lines) for heading, lines in lists if lines]
    return "\n\n".join(part for part in (context.strip(), *parts) if part)


def variables_of(text: str) -> dict[str, object]:
    """Return the variables of a session's body; a value that is not JSON, as people write, is a text."""
    variables: dict[str, object] = {}
    for line in _below(text, VARIABLES):
        if match := _VARIABLE.fullmatch(line):
            name = _value(match["name"])
            variables[name if isinstance(name, str) else match["name"]] = _value(match["value"])
    return variables


def tasks_of(text: str) -> list[str]:
    """Return the open tasks of a session's body."""
    return [match["task"] for line in _below(text, TASKS) if (match := _TASK.fullmatch(line))]


def noted(metadata: Mapping[str, object]) -> tuple[str, ...]:
    """Return `key: value` for each entry of *metadata*, each on one line; texts are written unquoted."""
    return tuple(
        f"{_line(key)}: {_line(value) if isinstance(value, str) else as_json(value)}"
        for key, value in metadata.items()
    )


def renoted(notes: Sequence[str], metadata: Mapping[str, object]) -> tuple[str, ...]:
    """Return *notes* with those of *metadata* replacing notes with the same keys; null removes a note."""
    prefixes = tuple(f"{_line(key)}:" for key in metadata)
    remaining = [note for note in notes if not note.startswith(prefixes)] if prefixes else notes
    return (*remaining, *noted({key: value for key, value in metadata.items() if value is not None}))


def name_of(note: str) -> str:
    """Return the key of a note as `noted` writes it; the whole note when it has no key."""
    return note.partition(": ")[0]


def as_json(value: object) -> str:
    """Return *value* as JSON on one line; types that JSON does not know become texts."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return re.sub("[\x7f-\x9f\u2028\u2029]", lambda sign: f"\\u{ord(sign[0]):04x}", text)


def _below(text: str, heading: str) -> list[str]:
    """Return the lines of the last list below *heading*."""
    _, heading_found, rest = f"\n{text}".rpartition(f"\n{heading}\n")
    lines = rest.split("\n") if heading_found else []
    return lines[: next((at for at, line in enumerate(lines) if line.startswith("#")), len(lines))]


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _name(name: object) -> str:
    text = str(name)
    return text if _PLAIN_NAME.fullmatch(text) else as_json(text)


def _line(text: str) -> str:
    return " ".join(str(text).split())
