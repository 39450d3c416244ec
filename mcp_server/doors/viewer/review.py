"""review: what waits for the person, whole, settled on the spot by one key, and taken back as easily."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.review.entries import Became, Entry, Verdict
from mcp_server.actions.review.review import AGED, MOST, ORIGIN, review, settle
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.doors.shown import review as shown
from mcp_server.doors.shown.history import undone
from mcp_server.doors.viewer.page import Fields, form, number, page
from mcp_server.doors.viewer.page_query import Where, store_for
from mcp_server.store import Store

MOST_COMPARED = 20  # new memories compared while the person waits
MOST_AGAIN = 3  # and each time when the page follows what happens
MOST_AT_ONCE = 1000  # entries that can be shown at once
KEYS = {Verdict.KEEP_BOTH: "b"}
"""Which key gives a verdict: its first letter, but for those here, as j and k move between the entries."""
LABELS = {verdict: verdict.value.replace("-", " ").capitalize() for verdict in Verdict}


def waiting(request: Request) -> Response:
    """
    Return what waits, a part of the page Today.

    When it looks `again` because something changed, few are compared: that is a change itself.
    """
    store = store_for(request)
    limit = min(max(MOST, number(request, "limit")), MOST_AT_ONCE)
    queue = review(
        store, limit=limit, most_new=MOST_AGAIN if "again" in request.query_params else MOST_COMPARED
    )
    return page(
        request,
        "waiting.html",
        queue=queue,
        limit=limit,
        more=limit + MOST if queue.left_out and limit < MOST_AT_ONCE else None,
        nothing=shown.NOTHING,
        unasked=shown.UNASKED if queue.counts.get(ORIGIN) else "",
        where=Where(request, store),
        **_words(),
    )


def settled(request: Request, fields: Fields) -> Response:
    """Carry out the person's verdict on the entry that was shown, and return the outcome."""
    store = store_for(request)
    word = str(fields.get("said", ""))
    if word not in list(Verdict):
        raise Rejected(f"'{word[:40]}' settles nothing.", "Choose one of the buttons of the entry.")
    entry = _entry_of(store, fields)
    if entry is None:
        return page(request, "settled.html", key=fields.get("key", ""), outcome=shown.SETTLED[Became.GONE])
    became = settle(store, replace(entry, digest=str(fields.get("digest", ""))), Verdict(word))
    outcome = shown.outcome(entry, became)
    if became in (Became.CHANGED, Became.LATER):
        return _again(request, store, entry, outcome)
    about = "" if entry.kind == AGED else entry.id
    return page(
        request,
        "settled.html",
        key=_key(entry),
        title=entry.title,
        outcome=outcome,
        entry=entry,
        about=about,
        change=last_change(store, about).name,
    )


def taken_back(request: Request, fields: Fields) -> Response:
    """Take back what an answer changed, and return the entry, which waits again."""
    store = store_for(request)
    change = last_change(store, str(fields.get("about", "")))
    outcome = undo(store, change, shown=str(fields.get("change", "")))
    result = undone(outcome)
    sentence = " ".join(
        [result.head, *(f"{row[0]}: {row[1]}." for row in result.rows if row[0] in dict(outcome.skipped))]
    )
    entry = _entry_of(store, fields)
    if entry is None:
        return page(request, "settled.html", key=fields.get("key", ""), outcome=sentence)
    return _again(request, store, entry, f"{sentence} It waits again.")


def _again(request: Request, store: Store, entry: Entry, note: str) -> Response:
    now = _now(store, entry.kind, entry.name, entry.ref) or entry
    return page(request, "waits.html", entry=now, note=note, where=Where(request, store), **_words())


def _entry_of(store: Store, fields: Fields) -> Entry | None:
    kind, name, ref = (str(fields.get(key, "")) for key in ("kind", "name", "ref"))
    return _now(store, kind, name, ref)


def _now(store: Store, kind: str, name: str, ref: str) -> Entry | None:
    """Return the entry as it waits now, None when it does not."""
    try:
        entries = review(store, [name]).entries
    except NotFound:
        return None
    return next(
        (entry for entry in entries if (entry.kind, entry.name, entry.ref) == (kind, name, ref)), None
    )


def _key(entry: Entry) -> str:
    """Return the id of an entry on the page."""
    return f"waits-{entry.kind}-{entry.ref}-{entry.name}"


def _words() -> dict[str, Any]:
    return {
        "choices": shown.choices,
        "why": shown.why,
        "about_of": shown.about,
        "labels": LABELS,
        "letters": {verdict: KEYS.get(verdict, verdict.value[0]) for verdict in Verdict},
        "key_of": _key,
        "aged": AGED,
    }


ROUTES = (
    Route("/waiting", waiting),
    Route("/waiting/settled", form(settled), methods=["POST"]),
    Route("/waiting/taken-back", form(taken_back), methods=["POST"]),
)
