"""
The folder in which Claude Code keeps its own memory of a project, and our notes of what came from there.

    <claude>/projects/<slug>/memory/MEMORY.md    the index: Claude Code sends its beginning to each session
                                    *.md         one topic file for each fact, read when it is called for
    <MEMORY_DIR>/auto-memory/<digest>.json       what each topic file of one such folder became

A hook asks `told`, so nothing slow is loaded unless a topic file is read.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mcp_server.adapters import files, places
from mcp_server.adapters.vault import is_memory_name
from mcp_server.core.errors import DaybookError, Unreadable

INDEX = "MEMORY.md"
SENT_LINES, SENT_BYTES = 200, 25_000  # of the index; what stands behind reaches no session
MAX_TOPIC = 256 * 1024  # bytes; a memory's text is at most 64 Ki characters
MAX_SETTINGS = 4 * 1024 * 1024  # bytes; of a settings file, and of our notes
MOST = 500  # topic files of one folder that are read
OFF = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
NOTES = places.AUTO_MEMORY
LOCK = ".lock"
YES = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True)
class Topic:
    """
    A topic file: its name, what its frontmatter says ('' where it says nothing), and its text.

    `digest` is that of its bytes; `size` (bytes) and `mtime_ns` tell cheaply that it did not change.
    """

    file: str
    name: str
    description: str
    type: str
    text: str
    digest: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Noted:
    """
    What a topic file became: `ref` of the memory, `digest` of that memory's file as the import left it.

    `words` is the fingerprint of what the memory says, by which an edit shows; `same`, whether it says
    what the topic file says. `topic`, `size` and `mtime_ns` are those of the topic file.
    """

    ref: str
    digest: str
    words: str
    same: bool
    topic: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where the memory of a session is: the folder, None when there is none, and where it was looked for."""

    folder: Path | None
    looked: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The topic files of a folder, by name, and why others could not be read."""

    topics: list[Topic] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


def claude_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Claude Code's settings: CLAUDE_CONFIG_DIR, or `~/.claude`."""
    return Path(os.path.expanduser(environment.get("CLAUDE_CONFIG_DIR") or "~/.claude"))


def locate(claude: Path, folders: Sequence[Path]) -> Place:
    """
    Return where Claude Code, with its settings in *claude*, keeps its memory of one of *folders*.

    `autoMemoryDirectory` of the person's own settings wins; a repository's settings are not asked.
    """
    said = _said(claude / "settings.json").get("autoMemoryDirectory")
    if isinstance(said, str) and (named := Path(os.path.expanduser(said))).is_absolute():
        looked: tuple[Path, ...] = (named,)
    else:
        slugs = dict.fromkeys(slug_of(folder) for folder in folders)
        looked = tuple(claude / "projects" / slug / "memory" for slug in slugs)
    return Place(next((folder for folder in looked if folder.is_dir()), None), looked)


def slug_of(folder: Path) -> str:
    """Return the name of Claude Code's own folder for *folder*: `/home/ada/shop` → `-home-ada-shop`."""
    return re.sub(r"[^A-Za-z0-9]", "-", str(folder))


def is_off(claude: Path, folders: Sequence[Path], environment: Mapping[str, str]) -> bool:
    """
    Tell whether auto memory is switched off for sessions in *folders*.

    Any of the files that may say so counts: what is told twice does less harm than what is never told.
    """
    if environment.get(OFF, "").strip().lower() in YES:
        return True
    names = ("settings.json", "settings.local.json")
    own = [claude / "settings.json"]
    for path in (*own, *(folder / ".claude" / name for folder in folders for name in names)):
        said = _said(path)
        variables = said.get("env")
        if said.get("autoMemoryEnabled") is False:
            return True
        if isinstance(variables, dict) and str(variables.get(OFF, "")).strip().lower() in YES:
            return True
    return False


def topics(folder: Path) -> Listing:
    """Return the topic files of *folder*; one that cannot be read is among the others, with the reason."""
    listing = Listing()
    try:
        names = sorted(name for name in os.listdir(folder) if name != INDEX and is_memory_name(name))
    except OSError as error:
        listing.unreadable[str(folder)] = f"cannot be read: {error.strerror}"
        return listing
    for number, name in enumerate(names):
        try:
            if number >= MOST:
                raise Unreadable(name, 0, f"comes after {MOST} others, which is the most")
            if not name.isprintable():
                raise Unreadable(name, 0, "has a name that cannot be printed")
            listing.topics.append(_topic(folder / name))
        except Unreadable as error:
            listing.unreadable[name] = f"line {error.line}: {error.reason}" if error.line else error.reason
        except OSError as error:
            listing.unreadable[name] = f"cannot be read: {error.strerror}"
    return listing


def _topic(path: Path) -> Topic:
    from mcp_server.adapters.frontmatter_lines import StrictFrontmatter  # hooks do without its parser

    data = files.read(path, MAX_TOPIC)
    status = os.stat(path, follow_symlinks=False)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise Unreadable(str(path), 0, "is not UTF-8") from None
    if "\0" in text:
        raise Unreadable(str(path), 0, "holds a NUL byte, so it is not a text")
    frontmatter = StrictFrontmatter(str(path))
    said: Mapping[str, object] = {}
    try:
        block, text = frontmatter.split(text)
        try:
            said = frontmatter.load(block)
        except Unreadable:
            said = _loosely(block)  # a model wrote it, and a colon in a description is no YAML
    except ValueError:
        pass  # there is no frontmatter
    metadata = said.get("metadata")
    kind = metadata.get("type") if isinstance(metadata, dict) else None
    return Topic(
        path.name,
        _word(said.get("name")),
        _word(said.get("description")),
        _word(kind or said.get("type")).lower(),
        text.strip("\n"),
        files.digest(data),
        len(data),
        status.st_mtime_ns,
    )


_LINE = re.compile(r"[ \t]*(name|description|type)[ \t]*:[ \t]*(.*)")


def _loosely(block: str) -> dict[str, str]:
    """Return what the lines `name:`, `description:` and `type:` of *block* say; the first of each counts."""
    said: dict[str, str] = {}
    for line in block.split("\n"):
        if match := _LINE.fullmatch(line):
            said.setdefault(match[1], match[2].strip().strip("\"'"))
    return said


def _word(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def told(home: Path, folders: Sequence[Path], environment: Mapping[str, str]) -> dict[str, str]:
    """
    Return ref → digest of the memories that Claude Code itself tells a session in *folders*.

    They came from topic files that still say the same and that the sent part of the index names; none
    when auto memory is off. Reads at most a few small files.
    """
    if not (home / NOTES).is_dir():
        return {}
    claude = claude_folder(environment)
    folder = locate(claude, folders).folder
    noted = notes(home, folder) if folder else {}
    if not folder or not noted or is_off(claude, folders, environment):
        return {}
    index = _sent(folder)
    return {
        one.ref: one.digest
        for file, one in noted.items()
        if one.same and file in index and _unchanged(folder / file, one)
    }


def _sent(folder: Path) -> str:
    """Return what of the index of *folder* reaches a session, '' when it cannot be read."""
    with contextlib.suppress(OSError, Unreadable):
        beginning = files.read(folder / INDEX)[:SENT_BYTES].decode("utf-8", "replace")
        return "\n".join(beginning.split("\n")[:SENT_LINES])
    return ""


def _unchanged(path: Path, noted: Noted) -> bool:
    try:
        status = os.stat(path, follow_symlinks=False)
        if (status.st_size, status.st_mtime_ns) == (noted.size, noted.mtime_ns):
            return True
        return status.st_size == noted.size and files.digest(files.read(path, MAX_TOPIC)) == noted.topic
    except (OSError, DaybookError):
        return False


def notes(home: Path, folder: Path) -> dict[str, Noted]:
    """Return what the topic files of *folder* became, by name; notes that cannot be read count as none."""
    said = _said(_note_path(home, folder)).get("topics")
    found = {}
    for file, one in said.items() if isinstance(said, dict) else ():
        with contextlib.suppress(TypeError):
            noted = Noted(**one)
            if isinstance(noted.ref, str) and isinstance(noted.digest, str):
                found[str(file)] = noted
    return found


def note(home: Path, folder: Path, noted: Mapping[str, Noted]) -> None:
    """Note what the topic files of *folder* became; raises OSError when the disk refuses."""
    path = _note_path(home, folder)
    said = {"folder": str(folder), "topics": {file: asdict(one) for file, one in sorted(noted.items())}}
    data = json.dumps(said, indent=1).encode("ascii")
    files.make_folder(path.parent)
    try:
        files.write_new(path, data)
    except FileExistsError:
        files.replace(path, data, expected=files.digest(files.read(path)))


@contextlib.contextmanager
def alone(home: Path) -> Iterator[None]:
    """Be the only one of our processes that imports while the block runs."""
    files.make_folder(home / NOTES)
    with files.lock(home / NOTES / LOCK):
        yield


def _note_path(home: Path, folder: Path) -> Path:
    return home / NOTES / f"{files.digest(os.fsencode(folder))}.json"


def _said(path: Path) -> dict[str, object]:
    """Return the JSON object that *path* holds, {} when there is none; a link counts as what it leads to."""
    try:
        said = json.loads(files.read(Path(os.path.realpath(path)), MAX_SETTINGS))
    except (OSError, Unreadable, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
