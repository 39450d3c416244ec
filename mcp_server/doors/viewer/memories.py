"""memories: what is known, listed newest first or found as one types, with the reasons for each rank."""

import re
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qs, urlsplit

from markupsafe import Markup, escape
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.list_trash import list_trash
from mcp_server.actions.team.recall import recall_with_team
from mcp_server.core.memory_parts import Kind, Level, Status, type_or_kind, vault_in
from mcp_server.core.memory_types import TYPES
from mcp_server.core.render import on_one_line, repeats, state_of, visible
from mcp_server.core.search import ranking
from mcp_server.core.search.query import Mode, Query
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.words import folded, identifier_parts, query_terms
from mcp_server.doors.shown.recall import components, doubts, reasons, shelves
from mcp_server.doors.viewer.acts import ACTS, BRINGS_BACK, for_many
from mcp_server.doors.viewer.page import page, paged, viewer
from mcp_server.doors.viewer.page_query import (
    ANY,
    MODES,
    TRASH,
    Selection,
    Where,
    projects,
    selection_of,
    store_for,
)
from mcp_server.store import Store

LISTED = 25  # memories of one page
FOUND = 20  # hits of one search
EXCERPT = 320  # characters of a memory's text under its title
PARTS = {
    "words": "how well its words match, next to the best match of this search",
    "near": "how many neighbouring words of the question stand near each other in it",
    "cosine": "how near its best passage is to the question in meaning",
    "mean": "how near its best three passages are to the question in meaning",
    "maxsim": "how well it answers the question word by word, in meaning",
    "coverage": "how many of the question's important words it has, which says how sure the hit is",
    "relevance": "words and meaning together, before anything else counts",
    "boosts": "what the relevance was multiplied by: for a tag, a quoted phrase, a path, a date",
    "recency": "how new it is: half after 30 days",
    "usage": "how often Claude was shown it: full at 20 times",
    "trust": "how far it is trusted",
    "helpfulness": "how often it was used when it was shown",
}
"""What each part of a score tells, by the names of `components`."""
MAIN = ("words", "near", "cosine", "maxsim")  # the parts that a hit shows at once
_WORD = re.compile(r"(\w+)")
# At least three letters stay.
_ENDING = re.compile(r"(?<=\w{3})(?:ations?|ings?|ies|ed|es|s|e|y)$")


def memories(request: Request) -> Response:
    """Return the page of memories, or for a request of htmx only what was found."""
    selection, store = selection_of(request), store_for(request)
    whole = "hx-request" not in request.headers
    if whole:
        store.meaning()  # it loads while the person still types
    in_trash = selection.status == TRASH
    looked_up = _trashed if in_trash else _searched if selection.q else _listed
    listing = looked_up(request, store, selection)
    many = {BRINGS_BACK: ACTS[BRINGS_BACK]} if in_trash else for_many(store)
    values: dict[str, Any] = {"selection": selection, "many": many, "in_trash": in_trash, **listing}
    if not whole:
        answer = page(request, "memories_found.html", **values)
        answer.headers.update(_address(request, selection))
        return answer
    choices: dict[str, Any] = {
        "projects": projects(request),
        "types": TYPES,
        "kinds": [kind.value for kind in Kind],
        "levels": [level.value for level in Level],
        "statuses": [status.value for status in Status if status is not Status.ACTIVE],
        "modes": MODES,
        "any_status": ANY,
        "trash": TRASH,
        "write": Where(request, store).write,
    }
    answer = page(request, "memories.html", **values, **choices)
    # All files are looked at once the page is there: what was edited by hand then shows by itself.
    answer.background = BackgroundTask(sync_if_free, store)
    return answer


def _address(request: Request, selection: Selection) -> dict[str, str]:
    """Return the header that sets the browser's address to the *selection*'s, if it is not there yet."""
    to = viewer(request).base + selection.url()
    before = urlsplit(request.headers.get("hx-current-url", ""))
    current = parse_qs(before.query)
    wanted = parse_qs(urlsplit(to).query)
    if before.path == urlsplit(to).path and current == wanted:
        return {}
    # Typing makes no entry of the browser's history of each letter; a filter makes one.
    typed = {**current, "q": ""} == {**wanted, "q": ""}
    return {"HX-Replace-Url" if typed else "HX-Push-Url": to}


def _listed(request: Request, store: Store, selection: Selection) -> dict[str, Any]:
    listing = list_memories(store, selection.filter(), limit=LISTED, offset=selection.offset)
    where = Where(request, store)
    rows = [
        {
            "row": row,
            "kind": type_or_kind(row.kind, row.type),
            "day": row.updated_at.date(),
            "pinned": row.pinned,
            "tags": row.tags,
            "to": where.to(row.vault, row.id),
            "excerpt": _beginning(row.title, row.text),
            "state": state_of(
                row.status, by=row.superseded_by, shadowed_by=listing.shadowed.get(row.row, "")
            ),
            "level": _level(store, row.vault),
        }
        for row in listing.rows
    ]
    return _page_of(selection, rows, listing.total)


def _trashed(request: Request, store: Store, selection: Selection) -> dict[str, Any]:
    listing = list_trash(store, selection.filter(), selection.q, limit=LISTED, offset=selection.offset)
    where, terms = Where(request, store), frozenset(query_terms(selection.q))
    rows = []
    for trashed in listing.rows:
        memory = trashed.memory
        excerpt = ""
        if memory:
            excerpt = marked(memory.text, terms, EXCERPT) if terms else _beginning(memory.title, memory.text)
        rows.append(
            {
                "row": trashed,
                "kind": type_or_kind(memory.kind, memory.type) if memory else "",
                "pinned": False,
                "tags": memory.tags if memory else (),
                "state": "" if memory else "its file contains no readable memory",
                "day": trashed.since.date() if trashed.since else "",
                "to": where.to(trashed.vault.key, trashed.id),
                "excerpt": excerpt,
                "level": trashed.vault.level.value,
            }
        )
    return {**_page_of(selection, rows, listing.total), "left_out": listing.left_out}


def _page_of(selection: Selection, rows: list[dict[str, Any]], total: int) -> dict[str, Any]:
    """Return what the page of a list shows: these *rows* of *total*."""
    return {
        "rows": rows,
        "total": total,
        "first": selection.offset + 1,
        "last": selection.offset + len(rows),
        **paged(selection.at, selection.offset, LISTED, more=selection.offset + LISTED < total),
    }


def _searched(request: Request, store: Store, selection: Selection) -> dict[str, Any]:
    mode = MODES[selection.mode]
    answer = recall_with_team(store, Query(selection.q, mode, limit=FOUND, filter=selection.filter()))
    where, terms = Where(request, store), frozenset(query_terms(selection.q))
    groups = [
        (
            line,
            [
                {
                    "hit": hit,
                    "is_here": bool(hit.path),
                    "to": where.to(vault_in(hit.ref), hit.id),
                    "excerpt": marked(hit.text, terms, EXCERPT),
                    "title": marked(hit.title, terms),
                    "doubts": doubts(hit),
                    "reasons": reasons(hit),
                    "parts": components(hit),
                    "bars": {name: _between(getattr(hit.parts, name)) for name in PARTS},
                }
                for hit in shelf
            ],
        )
        for line, shelf in shelves(answer.hits)
    ]
    return {
        "shelves": groups,
        "count": len(answer.hits),
        "verdict": answer.verdict,
        "team": answer.team,
        "parts": PARTS,
        "main_parts": MAIN,
        "weights": _weights(semantic=answer.semantic),
        **_by_words(request, store, mode, semantic=answer.semantic),
    }


def _by_words(request: Request, store: Store, mode: Mode, *, semantic: bool) -> dict[str, Any]:
    """Return why words alone are searched, '' where they are not or the person wants it so."""
    opened = viewer(request).opened
    loads = False
    why = ""
    if mode is not Mode.KEYWORD and not semantic:
        if opened.meaning.problem:
            why = opened.meaning.problem
        elif store.settings.embedding_model == "none":
            why = "No embedding model is chosen (EMBEDDING_MODEL is none)."
        else:
            loads, why = True, "The embedding model is loading; this page searches again when it is ready."
    return {"why_words": why, "loads": loads}


def _beginning(title: str, text: str) -> str:
    """Return how a memory's text begins, on one line; '' when its title says that already."""
    line = on_one_line(text[: 2 * EXCERPT])
    if repeats(title, text) and len(text) <= len(title) + 1:
        return ""
    return line if len(line) <= EXCERPT // 2 else f"{line[: EXCERPT // 2].rstrip()}…"


def _between(value: object) -> float | None:
    """Return a part of a score as a bar shows it, 0 to 1; None for what is no number or was not searched."""
    return min(1.0, max(0.0, value)) if isinstance(value, float | int) else None


def _weights(*, semantic: bool) -> dict[str, str]:
    """Return how much of the score each part decides, in words; with *semantic* of the best hits."""
    shares = {"words": ranking.LEXICAL_MEMORY, "near": ranking.LEXICAL_NEAR}
    if semantic:
        shares["cosine"] = ranking.CLOSE_MEANING * (1 - ranking.MEAN_SHARE)
        shares["mean"] = ranking.CLOSE_MEANING * ranking.MEAN_SHARE
        shares["maxsim"] = ranking.MAXSIM
    whole = sum(shares.values())
    raising = {
        "recency": ranking.RECENCY_WEIGHT,
        "usage": ranking.USAGE_WEIGHT,
        "trust": ranking.TRUST_WEIGHT,
        "helpfulness": ranking.HELPFULNESS_WEIGHT,
    }
    return (
        dict.fromkeys(PARTS, "")
        | {name: f"{share / whole:.0%}" for name, share in shares.items()}
        | {name: f"up to +{most:.0%}" for name, most in raising.items()}
    )


def _level(store: Store, vault: str) -> str:
    place = store.vault(vault)
    return place.level.value if place else Level.PROJECT.value


def marked(text: str, terms: Collection[str], most: int = 0) -> Markup:
    """
    Return *text* on one line, of at most *most* characters if that is not 0, with those of *terms* marked.

    *terms* are those of `words.query_terms`; other forms of a word are marked as well, as the index finds
    them.
    """
    line = " ".join(visible(excerpt(text, terms, most) if most else text).split())
    stems = {_stem(term) for term in terms}
    pieces = _WORD.split(line)  # every second one is a word
    meant = {word for word in set(pieces[1::2]) if _is_meant(word, terms, stems)}
    parts = [f"<mark>{escape(piece)}</mark>" if piece in meant else str(escape(piece)) for piece in pieces]
    return Markup("".join(parts))  # noqa: S704 - each piece is escaped


def _is_meant(word: str, terms: Collection[str], stems: Collection[str]) -> bool:
    parts = [folded(word), *identifier_parts(word)]
    if "_" in word:
        parts += map(folded, word.split("_"))
    return any(part in terms or _stem(part) in stems for part in parts)


def _stem(word: str) -> str:
    """Return *word* without the commonest English endings; no more than marking needs."""
    return _ENDING.sub("", word)


ROUTES = (Route("/memories", memories),)
