"""The checks of doctor as values: what is tried, and what each check may see."""

from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path
from typing import NamedTuple

from mcp_server.actions.model.model_call import Spending
from mcp_server.actions.status.module_seen import ModuleSeen


class CheckedPart(StrEnum):
    """What is tried, in this order; the values are the names that every door shows."""

    PYTHON = "Python"
    SQLITE = "SQLite"
    STORE = "store"
    INDEX = "index"
    FILES = "files"
    EDITS = "edits"
    EMBEDDING_MODEL = "embedding model"
    ROUND_TRIP = "round trip"
    HOOKS = "hooks"
    SERVER = "server"
    MODULE = "module"
    TOOLS = "tools"
    CAPTURE = "capture"
    LANGUAGE_MODEL = "language model"
    REMOTE = "remote"
    TEAM = "team"


class Finding(StrEnum):
    """What a check saw, or what is wrong, where there is nothing more to say of it."""

    NO_EDITS_CAUGHT = auto()
    EMBEDDING_OFF = auto()
    EMBEDDING_NOT_LOADED = auto()
    ROUND_TRIP = auto()
    NOT_FOUND_BY_WORDS = auto()
    NOT_FOUND_BY_MEANING = auto()
    FOUND_AFTER_FORGET = auto()
    SERVER_ANSWERS = auto()
    CAPTURE_OFF = auto()
    CALLS_OFF = auto()
    NO_KEY = auto()


class StoreFolder(NamedTuple):
    """
    The folder of the store, and whether other users of the machine can read it.

    `repository` is the folder of the git repository around it that would take the store in, None without one.
    """

    path: Path
    open_to_others: bool
    repository: Path | None = None


class Memories(NamedTuple):
    """How many memories could be read."""

    number: int


class NotTakenIn(NamedTuple):
    """How many files could not be read."""

    number: int


class CaughtEdits(NamedTuple):
    """Files that hold edits which a person saved while Daybook changed a memory."""

    paths: tuple[Path, ...]


class OpenedModel(NamedTuple):
    """The embedding model, and the endpoint to which it sends texts, '' for one on this machine."""

    name: str
    sends_to: str


class Plugin(NamedTuple):
    """The plugin's folder, whose hooks work."""

    folder: Path


class Missing(NamedTuple):
    """A file that the plugin lacks."""

    path: Path


class NotExecutable(NamedTuple):
    """A program of the plugin that may not be run."""

    path: Path


class ClaudeSettings(NamedTuple):
    """Why Claude Code cannot read its settings, and so loads no plugin; line and column 0: all of it."""

    path: Path
    line: int
    column: int
    reason: str


class SwitchedOff(NamedTuple):
    """The file of Claude Code's settings that switches this plugin or all hooks off, and how, as a clause."""

    path: Path
    how: str


class HookFails(NamedTuple):
    """How the hook of a new session failed, as a clause about it."""

    how: str


class ServerFails(NamedTuple):
    """How the server of a session failed, as a clause about it."""

    how: str


class Toolsets(NamedTuple):
    """The sets of tools that Claude is offered, and those that are switched off."""

    on: tuple[str, ...]
    off: tuple[str, ...]


class Captures(NamedTuple):
    """
    How sessions are captured, when one ended last that is kept, in Unix seconds (0 for none), and whether the
    end of some session was not reported.
    """

    mode: str
    last: int
    is_any_open: bool


class CapturedLate(NamedTuple):
    """How many sessions that ended over an hour ago are not kept yet."""

    sessions: int


class PlanCalls(NamedTuple):
    """How many calls were made on the person's plan today, and how many a day may be."""

    made: int
    most: int


class AllowedModel(NamedTuple):
    """The language model that may be called, what was spent on it, and how many USD a day may be."""

    name: str
    spent: Spending
    daily_usd: float


class LastExchange(NamedTuple):
    """The remote's address without a password, when the last whole exchange was, and what keeps it now."""

    url: str
    at: str
    trouble: str


class TeamSeen(NamedTuple):
    """What the server of the person's team answered: its name, the person's name in it, and their role."""

    name: str
    member: str
    role: str


Seen = (
    Finding
    | StoreFolder
    | Memories
    | NotTakenIn
    | CaughtEdits
    | OpenedModel
    | Plugin
    | Missing
    | NotExecutable
    | ClaudeSettings
    | SwitchedOff
    | HookFails
    | ServerFails
    | ModuleSeen
    | Toolsets
    | Captures
    | CapturedLate
    | PlanCalls
    | AllowedModel
    | LastExchange
    | TeamSeen
    | Path
    | str
    | Exception
)
"""What a check saw: a value, a path, the words of another program, or the error that it ended with."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what was tried, whether it passed, and what was seen, which doors put into words."""

    part: CheckedPart
    well: bool
    seen: Seen
