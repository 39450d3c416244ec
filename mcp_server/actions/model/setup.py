"""setup: what the person allows, written into `config.toml`, where they can read and change it."""

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters import files, leftovers
from mcp_server.core.errors import Rejected, SettingsError
from mcp_server.core.settings import CAPTURES, ROWS, Settings, parse_settings
from mcp_server.store import Store

CONFIG = "config.toml"
_TABLE = re.compile(r"^\s*\[")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the person decided; None leaves a setting as it is."""

    model_calls: bool | None = None
    daily_usd: float | None = None
    daily_calls: int | None = None
    capture: str | None = None
    api_key: str | None = None
    embedding_model: str | None = None
    embedding_api_key: str | None = None
    plan_calls: bool | None = None
    daily_plan_calls: int | None = None


def setup(store: Store, choices: Choices) -> None:
    """
    Write *choices* into `config.toml`; every other line stays as it is.

    The file may be a link into the folder where a person keeps such files. Raises Rejected when a value
    cannot be used or set, Unreadable when the file cannot be read; nothing is written then.
    """
    values = {name: value for name in Choices.__slots__ if (value := getattr(choices, name)) is not None}
    try:
        parse_settings({}, values)
    except SettingsError as error:
        raise Rejected(str(error), error.hint) from error
    path = Path(os.path.realpath(store.home / CONFIG))
    try:
        data = files.read(path)
    except FileNotFoundError:
        files.write_new(path, with_values("", values).encode("utf-8"))
        return
    changed = with_values(data.decode("utf-8-sig"), values).encode("utf-8")
    if changed != data:
        # In the store other processes hold that lock, and write files that are not finished yet.
        is_ours = path.parent == Path(os.path.realpath(store.home))
        with contextlib.nullcontext() if is_ours else leftovers.leaving_nothing(path.parent):
            files.replace(path, changed, expected=files.digest(data))


def allows_more(now: Settings, choices: Choices) -> bool:
    """Tell whether *choices* allow more than the settings *now*; anyone may allow less."""
    return bool(
        (choices.model_calls and not now.model_calls)
        or (choices.daily_usd is not None and choices.daily_usd > now.daily_usd)
        or (choices.daily_calls is not None and choices.daily_calls > now.daily_calls)
        or (choices.plan_calls and not now.plan_calls)
        or (choices.daily_plan_calls is not None and choices.daily_plan_calls > now.daily_plan_calls)
        or (choices.capture and CAPTURES.index(choices.capture) < CAPTURES.index(now.capture))
        or choices.api_key
    )


def overruled(choices: Choices, now: Settings) -> list[str]:
    """Return the variables for which *choices*, in `config.toml` since, do not hold in the settings *now*."""
    chosen = {name: getattr(choices, name) for name in Choices.__slots__ if name in ROWS}
    return [
        ROWS[name].variable
        for name, value in chosen.items()
        if value is not None and value != getattr(now, name)
    ]


def with_values(text: str, values: Mapping[str, object]) -> str:
    """
    Return the TOML *text* with each of *values* set at its top level; all other lines stay.

    An empty text is as good as no setting, so it only replaces what is there. Raises Rejected where *text*
    has a value of several lines, or a quoted name, so that the result would say something else.
    """
    import tomllib  # slow to load, and only a choice of the person needs it

    lines = text.splitlines(keepends=True)
    top = next((number for number, line in enumerate(lines) if _TABLE.match(line)), len(lines))
    for name, value in values.items():
        line = f"{name} = {_toml(value)}\n"
        for number, old in enumerate(lines[:top]):
            if re.match(rf"\s*{re.escape(name)}\s*=", old):
                lines[number] = line
                break
        else:
            if value == "":
                continue
            if top and not lines[top - 1].endswith("\n"):
                lines[top - 1] += "\n"
            lines.insert(top, line)
            top += 1
    changed = "".join(lines)
    try:
        read = tomllib.loads(changed)
    except ValueError:
        read = {}
    if any(read.get(name, "") != value for name, value in values.items()):
        raise Rejected(
            f"{' and '.join(values)} cannot be set: {CONFIG} has a line that Daybook does not change.",
            "Set it in that file with an editor.",
        )
    return changed


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        raise Rejected("A setting cannot hold line ends or control characters.", "Give it on one line.")
    return f'"{escaped}"'
