"""editing: write or change a memory without losing what another editor or session writes meanwhile."""

from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.compare_and_store import compare_and_store, looked_up, near_now
from mcp_server.actions.judge.draft_outcome import DraftOutcome
from mcp_server.actions.memory.promote import pin, require_place
from mcp_server.actions.memory.revise import Revision, repeated, revise
from mcp_server.actions.recall.nearby import Near
from mcp_server.core.digests import text_digest
from mcp_server.core.errors import DaybookError, NotFound, Rejected, disk_refused
from mcp_server.core.memory import LIST_NAMES, PHRASES, Draft, Memory
from mcp_server.core.memory_parts import ID, Kind, Level, split_list
from mcp_server.core.memory_types import TYPES
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.render import state_of
from mcp_server.core.secrets.redaction import KEEP_SECRETS
from mcp_server.core.text.text_difference import compared, folded
from mcp_server.core.text.titles import titled
from mcp_server.doors.shown.draft_outcome import note
from mcp_server.doors.shown.memory import remembered
from mcp_server.doors.viewer.guard import READ_ONLY
from mcp_server.doors.viewer.page import Fields, form, page, viewer
from mcp_server.doors.viewer.page_query import MEMORY, WRITE, Where, store_for
from mcp_server.store import Store

WITHOUT = "Leave out the secret; if it is not one, save it as it is."


FormText = dict[str, str]
"""What the form of a memory holds, as text, by name: tags with commas, a phrase and a touched file a line."""

_BY_LINE = (*(key.name for key in PHRASES), "touches")
_LISTS = (*LIST_NAMES, "touches")
_NAMES = ("title", "text", "type", *_LISTS, "pinned")


def form_of(memory: Memory) -> FormText:
    """Return what the form holds for *memory*, as a browser sends it back."""
    return {
        "title": memory.title.replace("\r", "").replace("\n", ""),
        "text": memory.text.replace("\r\n", "\n").replace("\r", "\n"),
        "type": memory.type,
        **{name: ("\n" if name in _BY_LINE else ", ").join(getattr(memory, name)) for name in _LISTS},
        "pinned": "yes" if memory.pinned else "",
    }


def sent(inputs: Fields) -> FormText:
    """Return what a form was sent with; a field that it lacks is empty."""
    return {name: inputs.get(name, "") for name in _NAMES}


def version_of(words: FormText) -> str:
    """Return a digest of all that the form holds: what else is in the file may change under an editor."""
    return text_digest("\0".join(words.values()), size=8)


def _value(name: str, text: str) -> Any:
    """Return what the *text* of a field says of the memory."""
    if name == "pinned":
        return bool(text)
    if name in _BY_LINE:
        return split_list(text.splitlines())
    return split_list(text) if name in _LISTS else text


def edit(request: Request) -> Response:
    """Return the page on which a memory is edited; raise NotFound, Unreadable."""
    check_writable(request)
    store = store_for(request)
    file = read(store, request.path_params["memory_id"])
    words = form_of(file.memory)
    return page(request, "edit.html", words=words, version=version_of(words), **_about(request, store, file))


def save(request: Request, inputs: Fields) -> Response:
    """Save what was edited, and return the outcome: saved, refused, or both texts where they part."""
    store, memory_id = store_for(request), request.path_params["memory_id"]
    words, version = sent(inputs), inputs.get("over") or inputs.get("version", "")
    outcome: dict[str, Any] = {}
    status, became = HTTPStatus.OK, {"saved": False, "conflict": False, "refused": False}
    try:
        saved = _saved(store, memory_id, words, version, keep_secrets="keep_secrets" in inputs)
        file = saved or read(store, memory_id)
        now = form_of(file.memory)
        if saved:
            became["saved"] = True
            version = version_of(now)
            state = state_of(file.memory.status, by=file.memory.superseded_by)
            outcome = {"at": store.clock(), "state": state, "near": _near(request, store, file)}
        else:
            status, became["conflict"] = HTTPStatus.CONFLICT, True
            parts = [
                (name, folded(compared(now[name], mine))) for name, mine in words.items() if now[name] != mine
            ]
            outcome = {"parts": parts, "newest": version_of(now)}
        about = _about(request, store, file)
    except (DaybookError, OSError) as error:
        status, became["refused"] = HTTPStatus.BAD_REQUEST, True
        outcome = refusal(error)
        about = _about(request, store, memory_id=memory_id)
    values = {"words": words, "version": version, "outcome": became | outcome, **about}
    if "hx-request" not in request.headers:
        return page(request, "edit.html", status, **values)
    answer = page(request, "edit_outcome.html", **values)
    if became["saved"]:
        answer.headers["HX-Trigger"] = "saved"
    return answer


def _saved(
    store: Store, memory_id: str, words: FormText, version: str, *, keep_secrets: bool
) -> MemoryFile | None:
    """Return the memory with those *words*, None when its own are not at *version* any more."""

    def attempt() -> MemoryFile | None:
        file = read(store, memory_id)
        was = form_of(file.memory)
        if version_of(was) != version:
            return None
        new = {name: _value(name, text) for name, text in words.items() if text != was[name]}
        revision = Revision(**new)  # the rest of the file keeps its bytes
        if revision.pinned:
            require_place(store, memory_id)
        if revision == Revision(pinned=revision.pinned) and revision.pinned is not None:
            return pin(store, memory_id, pinned=revision.pinned).file
        save_it = partial(revise, store, memory_id, revision, version=file.digest, source=MANUAL)
        return save_it(keep_secrets=keep_secrets)

    return repeated(attempt)


def preview(request: Request, inputs: Fields) -> Response:
    """Return what a text will look like."""
    return page(request, "preview.html", text=inputs.get("text", ""))


def new(request: Request) -> Response:
    """Return the page on which a memory is written."""
    check_writable(request)
    return _new(request, dict.fromkeys(_NAMES, ""))


def remember(request: Request, inputs: Fields) -> Response:
    """Remember what was written, and return the outcome and of the memories it met."""
    store, words, level = store_for(request), sent(inputs), inputs.get("level", "")
    try:
        draft = Draft(
            titled(words["title"], words["text"]),
            words["text"],
            words["type"],
            level=Level(level) if level in tuple(Level) else None,
            source=MANUAL,
            **{name: _value(name, words[name]) for name in _LISTS},
        )
        outcome = looked_up(store, compare_and_store(store, draft, keep_secrets="keep_secrets" in inputs))
        file = read(store, outcome.id)
    except (DaybookError, OSError) as error:
        refused = {"refused": True, **refusal(error)}
        if "hx-request" in request.headers:
            return page(request, "refused.html", outcome=refused, where=Where(request, store))
        return _new(request, words, HTTPStatus.BAD_REQUEST, level=level, outcome=refused)
    where = Where(request, store)
    answer = page(
        request,
        "remembered.html",
        outcome=outcome,
        head=remembered(outcome, file).head,
        title=file.memory.title,
        path=file.path,
        remark=linked_words(request, where, note(outcome, settling=lambda *_: ""), _named(outcome)),
        near=_near(request, store, file, outcome.near),
        **_about(request, store, file),
    )
    answer.headers["HX-Retarget"] = "#main"
    return answer


def _new(request: Request, words: FormText, status: int = HTTPStatus.OK, **values: Any) -> Response:
    store = store_for(request)
    common = {"where": Where(request, store), "types": TYPES, "own_project": store.project, "level": ""}
    return page(request, "new.html", status, words=words, **{**common, **values})


def _named(outcome: DraftOutcome) -> set[str]:
    """Return the ids of the memories that *outcome* tells of."""
    return {
        *(outcome.id, outcome.successor),
        *outcome.superseded,
        *outcome.shadowed,
        *outcome.later,
        *outcome.kept,
        *outcome.uncovered,
    }


def linked_words(request: Request, where: Where, sentence: str, ids: set[str]) -> Markup:
    """Return *sentence* with a link to each memory of *ids* that it names."""
    markup, at, base = Markup(), 0, viewer(request).base
    for word in ID.finditer(sentence):
        if word[0] in ids:
            to = base + where.seen(word[0])
            markup += escape(sentence[at : word.start()]) + Markup('<a href="{}">{}</a>').format(to, word[0])
            at = word.end()
    return markup + escape(sentence[at:])


def _near(
    request: Request, store: Store, file: MemoryFile, near: tuple[Near, ...] | None = None
) -> list[dict[str, Any]]:
    """Return the memories that may be about the same thing as the memory of *file*, each with its address."""
    where = Where(request, store)
    with suppress(DaybookError):
        near = near_now(store, file.memory.id) if near is None else near
    return [{"near": neighbour, "to": where.seen(neighbour.id)} for neighbour in near or ()]


def refusal(error: DaybookError | OSError) -> dict[str, Any]:
    """Return what a page says of an *error*: a sentence, a hint, and whether it was taken for a secret."""
    if isinstance(error, OSError):
        error = Rejected(disk_refused(error))
    secret = KEEP_SECRETS in error.hint
    return {
        "sentence": str(error),
        "hint": WITHOUT if secret else error.hint,
        "secret": secret,
        "is_gone": isinstance(error, NotFound),
    }


def _about(
    request: Request, store: Store, file: MemoryFile | None = None, memory_id: str = ""
) -> dict[str, Any]:
    """Return what the pages of one memory show around their own: its id, title and addresses."""
    return {
        "id": file.memory.id if file else memory_id,
        "where": Where(request, store),
        "types": TYPES if not file or file.memory.kind is Kind.KNOWLEDGE else (),
    }


def check_writable(request: Request) -> None:
    """Raise Rejected where the viewer is for looking only."""
    if viewer(request).read_only:
        raise Rejected(READ_ONLY)


ROUTES = (
    Route("/preview", form(preview), methods=["POST"]),
    Route(WRITE, new),
    Route(WRITE, form(remember), methods=["POST"]),
    Route(f"{MEMORY}/edit", edit),
    Route(f"{MEMORY}/edit", form(save), methods=["POST"]),
)
