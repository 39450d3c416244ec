"""history: what a memory said before, how two versions differ, and saying again what one of them says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.changes.history import History, history_of
from mcp_server.actions.changes.undo import last_undoable
from mcp_server.actions.files.read import find, read
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.adapters import files
from mcp_server.core.difference import difference
from mcp_server.core.errors import DaybookError, NotFound, Rejected
from mcp_server.core.memory import LIST_NAMES, WORDS, Memory
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.text.text_difference import compared, folded
from mcp_server.doors.shown.history import changes as changes_of
from mcp_server.doors.viewer.page import Fields, form, page
from mcp_server.doors.viewer.page_query import MEMORY, Where, store_for
from mcp_server.store import Store

NOW = "now"  # how the page calls the version that is in the file
CHANGED = "It was changed since this page was made. Look at the last change below, then decide again."


@dataclass(frozen=True, slots=True)
class OneVersion:
    """What a memory said at one time: the version's name, its file's text, and the memory if it holds one."""

    name: str
    text: str
    memory: Memory | None


def history(request: Request) -> Response:
    """Return the page of a memory's versions, which compares two of them when the address names them."""
    return _history(request, store_for(request))


def say_again(request: Request, inputs: Fields) -> Response:
    """Let the memory say again what it said in one version, as a new change; nothing is lost."""
    store, memory_id = store_for(request), request.path_params["memory_id"]
    file = read(store, memory_id)
    before = _states(history_of(store, memory_id)).get(inputs.get("number", ""))
    if before is None or before.memory is None:
        raise Rejected("That version contains no memory.", "Choose another one.")
    if file.digest != inputs.get("digest"):
        return _history(request, store, problem=CHANGED)
    was = before.memory
    keys = ("title", "text", "type", *LIST_NAMES, "touches", *WORDS)
    revision = Revision(**{name: getattr(was, name) for name in keys})
    revise(store, memory_id, revision, version=file.digest, source=MANUAL, keep_secrets=True, had=was)
    sentence = f"It again says what version {before.name}."
    return _history(request, store, lines=[sentence, "Its former text is kept as a version too."])


def _history(request: Request, store: Store, *, lines: Sequence[str] = (), problem: str = "") -> Response:
    record = history_of(store, request.path_params["memory_id"])
    states = _states(record)
    now = states[NOW]
    titles = [state.memory.title for state in (now, *states.values()) if state.memory]
    older, newer = _chosen(request, states)
    table = changes_of(record)
    rows = [(*row, differs) for row, differs in zip(table.rows, table.texts, strict=True)]
    return page(
        request,
        "history.html",
        id=record.id,
        title=next(iter(titles), record.id),
        where=Where(request, store),
        digest=files.digest(now.text.encode("utf-8", "surrogateescape")) if now.text else "",
        path=record.path,
        put_away=_is_put_away(store, record.id),
        versions=list(zip(record.versions, rows, strict=True)),
        last=last_undoable(store, record.id),
        older=older,
        newer=newer,
        compared=_compared(states[older], states[newer]) if older and newer else None,
        beside="beside" in request.query_params,
        lines=lines,
        problem=problem,
    )


def _states(record: History) -> dict[str, OneVersion]:
    """Return what the memory said by the names of its versions, the oldest first and NOW last."""
    versions = {str(version.number): (version.path, version.memory) for version in reversed(record.versions)}
    states = {name: OneVersion(name, _text(path), memory) for name, (path, memory) in versions.items()}
    return {**states, NOW: OneVersion(NOW, _text(record.path), record.memory)}


def _text(path: Path) -> str:
    try:
        return files.read(path).decode("utf-8", "surrogateescape")
    except (DaybookError, OSError):
        return ""


def _is_put_away(store: Store, memory_id: str) -> bool:
    """Tell whether a memory that has a history is none of those that are there."""
    try:
        find(store, memory_id)
    except NotFound:
        return True
    return False


def _chosen(request: Request, states: dict[str, OneVersion]) -> tuple[str, str]:
    """Return the names of the two versions that the address names, the older first; '' for none."""
    names = list(states)
    chosen = [request.query_params.get(name, "") for name in ("one", "two")]
    if not all(name in states for name in chosen):
        return "", ""
    older, newer = sorted(chosen, key=names.index)
    return older, newer


def _compared(older: OneVersion, newer: OneVersion) -> dict[str, object]:
    """Return where two versions part: title and text by their words, the rest in a sentence."""
    if older.memory is None or newer.memory is None:
        return {"parts": [("file", folded(compared(older.text, newer.text)))], "differs": ""}
    was, now = older.memory, newer.memory
    pairs = [(name, getattr(was, name), getattr(now, name)) for name in ("title", "text")]
    return {
        "parts": [
            (name, folded(compared(old_text, new_text)))
            for name, old_text, new_text in pairs
            if old_text != new_text
        ],
        "differs": difference(replace(was, title=now.title, text=now.text), now),
    }


ROUTES = (
    Route(f"{MEMORY}/history", history),
    Route(f"{MEMORY}/history/again", form(say_again), methods=["POST"]),
)
