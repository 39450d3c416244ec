"""changes: everything that was done, taking a change or a whole batch back, and forgetting a session."""

from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.changes.deeds import TitledDeed, deeds_at, list_deeds
from mcp_server.actions.changes.preview import Preview, entries_of, preview_of_deed, preview_of_undo
from mcp_server.actions.changes.undo import LastChange, change_named, last_change, undo
from mcp_server.actions.sessions import session_history
from mcp_server.actions.sessions.forget_session import forget_session, undo_forget_session
from mcp_server.core.authors import CLAUDE, MODEL, PERSON, TIDY
from mcp_server.core.difference import difference
from mcp_server.core.errors import Conflict
from mcp_server.core.search.query import MAX_LIMIT
from mcp_server.core.text.text_difference import Stretch, compared, folded
from mcp_server.doors.shown import deeds, sessions
from mcp_server.doors.shown.history import undone
from mcp_server.doors.shown.runs import line
from mcp_server.doors.viewer.page import ALL, Fields, address, form, number, page, paged
from mcp_server.doors.viewer.page_query import Where, store_for
from mcp_server.store import Store

MOST = 50  # deeds of one page
MOST_COMPARED = 50  # memories of one change whose texts are shown
BY = {
    PERSON: "you",
    CLAUDE: "Claude",
    MODEL: "the model that learns from sessions",
    TIDY: "tidying",
}


@dataclass(frozen=True, slots=True)
class Parts:
    """One memory of a change: what it is called, where its two texts part, and what else differs."""

    of: Preview
    title: str
    text: tuple[Stretch, ...]
    differs: str


def changes(request: Request) -> Response:
    """Return a page of what was done, the latest first."""
    store = store_for(request)
    params = {name: request.query_params.get(name, "").strip() for name in ("id", "session", "by", "project")}
    offset = number(request, "from")

    def at(first: int) -> str:
        return address("/changes", **params, **{"from": first or ""})

    titled_deeds = list_deeds(
        store,
        params["id"],
        session=params["session"],
        by=params["by"],
        limit=MOST + 1,
        offset=offset,
        all_projects=params["project"] == ALL,
    )
    return page(
        request,
        "changes.html",
        groups=_groups(titled_deeds[:MOST]),
        params=params,
        offset=offset,
        own=at(offset),
        **paged(at, offset, MOST, more=len(titled_deeds) > MOST),
        authors=BY,
        nothing=deeds.NOTHING,
        words=deeds.words,
        where=Where(request, store),
    )


def did(request: Request) -> Response:
    """Return what one deed did, with the way to take it back where it is the last change of its memory."""
    store = store_for(request)
    file, offset = request.query_params.get("file", ""), number(request, "offset")
    previews = [part for deed in deeds_at(store, (file, offset)) for part in preview_of_deed(store, deed)]
    name = request.query_params.get("change", "")
    return page(
        request,
        "changes_did.html",
        parts=[_parts(preview) for preview in previews[:MOST_COMPARED]],
        left_out=max(0, len(previews) - MOST_COMPARED),
        reasons=[line(entry) for entry in entries_of(store, name)] if name else [],
        name=name,
        where=Where(request, store),
    )


def undoing(request: Request) -> Response:
    """Return what taking back the last change, of the project or of a memory, or a named one would do."""
    store = store_for(request)
    params = {name: request.query_params.get(name, "").strip() for name in ("id", "change")}
    return _undoing(request, store, _change(store, params), params)


def undo_it(request: Request, fields: Fields) -> Response:
    """Take the change back that was shown; one that is not the last any more is shown again instead."""
    store = store_for(request)
    params = {name: str(fields.get(name, "")) for name in ("id", "change")}
    change = _change(store, params)
    try:
        outcome = undo(store, change, anyway="anyway" in fields, shown=str(fields.get("shown", "")))
    except Conflict as error:
        return _undoing(request, store, change, params, problem=str(error))
    return page(
        request,
        "changes_undone.html",
        result=undone(outcome),
        again=params["id"],
        title="Taken back",
        where=Where(request, store),
    )


def forgetting(request: Request) -> Response:
    """Return the sessions that can be forgotten, or what would be forgotten of the one that is named."""
    store = store_for(request)
    named = request.query_params.get("session", "").strip()
    if not named:
        episodes = session_history.list_sessions(store, limit=MAX_LIMIT)
        return page(
            request,
            "changes_forget.html",
            episodes=episodes,
            report=None,
            where=Where(request, store),
            nothing=sessions.NONE,
        )
    report = session_history.tell_session(store, named)
    plan = None if report.episode.forgotten else forget_session(store, report.episode.id, dry_run=True)
    return page(
        request,
        "changes_forget.html",
        report=report,
        episode=report.episode,
        plan=plan,
        lines=[str(row[0]) for row in sessions.forgotten(plan).rows] if plan else [],
        forgotten=sessions.FORGOTTEN,
        where=Where(request, store),
    )


def forget_it(request: Request, fields: Fields) -> Response:
    """Forget what was learned in a session, or with `back` bring it back."""
    store = store_for(request)
    named = str(fields.get("session", ""))
    if "back" in fields:
        result, title = undone(undo_forget_session(store, named)), "Brought back"
    else:
        result, title = sessions.forgotten(forget_session(store, named, dry_run=False)), "Forgotten"
    return page(
        request,
        "changes_undone.html",
        result=result,
        title=title,
        session=named,
        back="back" not in fields,
    )


def _change(store: Store, params: dict[str, str]) -> LastChange:
    return change_named(store, params["change"]) if params["change"] else last_change(store, params["id"])


def _undoing(
    request: Request, store: Store, change: LastChange, params: dict[str, str], *, problem: str = ""
) -> Response:
    previews = preview_of_undo(store, change)
    return page(
        request,
        "changes_undo.html",
        change=change,
        params=params,
        by=BY.get(change.by, "an earlier version of Daybook"),
        verb=deeds.event_words(change.verb),
        notes=[deeds.event_words(note.event) for note in change.notes],
        parts=[_parts(preview) for preview in previews[:MOST_COMPARED]],
        count=len(previews),
        refused=[preview for preview in previews if preview.refused],
        possible=not previews or any(not preview.refused for preview in previews),
        anyway=any(preview.anyway for preview in previews),
        reasons=[line(entry) for entry in entries_of(store, change.name)],
        problem=problem,
        where=Where(request, store),
    )


def _parts(preview: Preview) -> Parts:
    was, now = preview.before, preview.after
    memory = now or was
    title = memory.title if memory else preview.id
    if was is None or now is None:
        return Parts(preview, title, folded(compared(was.text if was else "", now.text if now else "")), "")
    text = folded(compared(was.text, now.text)) if was.text != now.text else ()
    return Parts(preview, title, text, difference(replace(was, text=now.text), now))


def _groups(titled_deeds: list[TitledDeed]) -> list[list[TitledDeed]]:
    """Return the deeds with those of one run or change that follow on each other together."""
    groups: list[list[TitledDeed]] = []
    for titled in titled_deeds:
        if groups and _name(titled) and _name(groups[-1][0]) == _name(titled):
            groups[-1].append(titled)
        else:
            groups.append([titled])
    return groups


def _name(titled: TitledDeed) -> str:
    """Return the name of the run or the change that a deed belongs to, '' for none."""
    return str(titled.deed.detail.get("run") or titled.deed.detail.get("change") or "")


ROUTES = (
    Route("/changes", changes),
    Route("/changes/did", did),
    Route("/changes/undo", undoing),
    Route("/changes/undo", form(undo_it), methods=["POST"]),
    Route("/changes/forget", forgetting),
    Route("/changes/forget", form(forget_it), methods=["POST"]),
)
