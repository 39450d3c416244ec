"""
The pane next to the chat: its content (`pane`), its buttons (`act`), and the status line (`status`).

A press in the pane is the person's word: it comes from the client's own screen, never from the model.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp_server.actions.changes import undo as undoing
from mcp_server.actions.files.read import find
from mcp_server.actions.memory import promote
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.model.model_call import spending
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review import review
from mcp_server.actions.review.entries import Entry, Verdict
from mcp_server.actions.sessions import session_overview
from mcp_server.adapters import files
from mcp_server.adapters.index.events.receipts import PROMPT, RECALL, Receipt
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.authors import CLAUDE, MODEL, PERSON, TIDY
from mcp_server.core.errors import NotFound, PersonNeeded, Rejected
from mcp_server.core.memory_parts import Kind, Status, type_or_kind
from mcp_server.core.render import counted, one_line, visible
from mcp_server.core.search.query import Confidence, Filter, Query
from mcp_server.core.settings import hooks_are_off
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.dialog import Unanswered
from mcp_server.doors.shown import deeds
from mcp_server.doors.shown import history as shown_history
from mcp_server.doors.shown import hot as shown_hot
from mcp_server.doors.shown import memory as shown_memory
from mcp_server.doors.shown import review as shown
from mcp_server.doors.shown.figures import today
from mcp_server.store import Store

Payload = Mapping[str, Any]
Answer = dict[str, Any]

PANE = "/daybook"
ROWS = 20  # of a list; the rest is only counted
LONGEST = 20_000  # characters of an opened row; a longer one is read and settled in a terminal
WORDS = 500  # characters of a search
BY = {PERSON: "by you", CLAUDE: "by Claude", MODEL: "learned from a session", TIDY: "while tidying"}


def draw(application: Application, payload: Payload) -> Answer:
    """
    Return the content of the pane for the chosen `tab`: `tabs`, `rows` (`id, title, about`), `notes`.

    The row that is `open` has its `text`, a list of lines, its `actions`, and the notes `below` them: each
    action is the input of `act`, with a `label`, a `meaning` and the `key` that presses it. The tab `search`
    searches for `words`. `text` is a summary in one sentence. When the module has `seen` the present `mark`,
    nothing changed, and only the `mark` is returned.
    """
    store, session = _persons(application), application.session.id
    tab, opened, words = (str(payload.get(name) or "")[:WORDS] for name in ("tab", "open", "words"))
    mark = files.digest("\n".join([session, tab, opened, words, session_overview.mark(store)]).encode())
    if payload.get("seen") == mark:
        return {"mark": mark}
    memories = session_overview.shown_memories(store, session)
    queue = review.review(store, limit=ROWS)
    waiting = sum(queue.counts.values())
    notes: list[str] = []
    left_out = 0
    match tab:
        case "waits":
            rows = [_waiting(entry, opened) for entry in queue.entries]
            none, left_out = "Nothing waits for you.", queue.left_out
        case "search":
            rows = [_memory(store, row, "", opened) for row in _searched(store, words)]
            none = "No memory says that." if words.strip() else "Nothing is stored yet."
        case "today":
            new = session_overview.new_today(store)
            rows = [_memory(store, memory.row, BY.get(memory.by, ""), opened) for memory in new[:ROWS]]
            none, left_out, notes = "Nothing was stored today.", len(new) - ROWS, [_spent(store)]
        case _:
            rows = [_shown_memory(store, memory, opened) for memory in memories[:ROWS]]
            none, left_out = "Claude was shown nothing yet in this session.", len(memories) - ROWS
    labels = {
        "told": f"Shown {len(memories)}",
        "waits": f"Waits {waiting}",
        "search": "Search",
        "today": "Today",
    }
    return {
        "mark": mark,
        "tabs": [{"name": name, "label": label} for name, label in labels.items()],
        "rows": rows,
        "notes": [*([] if rows else [none]), *([f"and {left_out} more"] if left_out > 0 else []), *notes],
        "status": _status(application, len(memories), waiting),
        "text": f"Claude was shown {counted(len(memories), 'memory')} in this session; {_in_words(waiting)}",
    }


def act(application: Application, payload: Payload) -> Answer:
    """Do what a button asks; return the outcome as `text`, with the `actions` that take it back."""
    store = _persons(application)
    name, memory_id = str(payload.get("act")), str(payload.get("id"))
    if name not in ACTS:
        raise Rejected(f"There is no button '{one_line(name, 40)}'.", "Start a new session: versions differ.")
    if application.session.by_claude:
        raise PersonNeeded("a button", "review", why=Unanswered.NOBODY.value)
    text = ACTS[name](store, memory_id, payload)
    return {"text": visible(text), "actions": [] if name == "undo" else _taking_back(store, memory_id)}


def status(application: Application, payload: Payload) -> Answer:
    """Return the entry of the status line, '' for none, and as `toast` what was learned since."""
    del payload
    store, session = application.opened.store(), application.session
    memories, waiting = session_overview.shown_memories(store, session.id), sum(review.counts(store).values())
    last, new = session_overview.learned_since(store, session.learned or session_overview.NOTHING_YET)
    first, session.learned = session.learned is None, last
    answer: Answer = {"status": _status(application, len(memories), waiting), "toast": ""}
    if new and not first and not hooks_are_off(application.opened.environment):
        more = f" and {len(new) - 1} more" if len(new) > 1 else ""
        answer["toast"] = f"Learned: {one_line(new[0].row.title, 80)}{more}. {PANE} shows it, with its undo."
    return answer


def _status(application: Application, shown_count: int, waiting: int) -> str:
    opened = application.opened
    if not opened.store().settings.status_line or hooks_are_off(opened.environment):
        return ""
    waits = f"{waiting} {'waits' if waiting == 1 else 'wait'}"
    return " · ".join([*([f"{shown_count} shown"] if shown_count else []), *([waits] if waiting else [])])


def _in_words(waiting: int) -> str:
    if not waiting:
        return "nothing waits for you."
    return f"{counted(waiting, 'entry')} {'waits' if waiting == 1 else 'wait'} for you: 'daybook review'."


def _shown_memory(store: Store, memory: session_overview.ShownMemory, opened: str) -> Answer:
    why = "; ".join(dict.fromkeys(map(_why, memory.receipts)))
    if memory.row is None:
        content: Answer = {"id": memory.id, "title": memory.id, "about": f"{why}; it is gone since"}
        return content | ({"actions": _taking_back(store, memory.id)} if memory.id == opened else {})
    return _memory(store, memory.row, why, opened)


def _why(receipt: Receipt) -> str:
    """Return why a memory was given, in a few words."""
    score = "" if receipt.score is None else f", score {receipt.score:.2f}"
    used = ", used" if receipt.used else ""
    if receipt.why == PROMPT:
        return f"for your prompt “{one_line(receipt.said, 60)}”{score}{used}"
    if receipt.why == RECALL:
        return f"for the search “{one_line(receipt.said, 60)}”{score}{used}"
    return f"at the start of the session{used}"


def _memory(store: Store, row: Row, about: str, opened: str) -> Answer:
    """Return the row of a memory; if it is the one *opened*, whole and with its actions."""
    content: Answer = {
        "id": row.id,
        "title": visible(row.title),
        "about": about or type_or_kind(row.kind, row.type),
    }
    if row.id != opened:
        return content
    text = visible(row.text)
    cut = [f"… 'daybook read {row.id}' shows the rest."] if len(text) > LONGEST else []
    state = [] if row.status is Status.ACTIVE else [f"It is {row.status.value} and is no longer shown."]
    content["text"], content["below"] = [*text[:LONGEST].splitlines(), *cut, *state], [row.id]
    actions = []
    if row.status is Status.ACTIVE:
        if row.kind is Kind.KNOWLEDGE:
            pin = ("unpin", "Unpin", "at hand only while it is used") if row.pinned else (
                "pin", "Pin", "at hand in every session"
            )  # fmt: skip
            actions.append(_action(*pin, row.id, key="p"))  # 'u' is the key of Undo
        actions.append(_action("forget", "Forget", "moves it to the trash; undo brings it back", row.id))
    content["actions"] = [*actions, *_taking_back(store, row.id)]
    return content


def _action(act: str, label: str, meaning: str, memory_id: str, **more: str) -> Answer:
    return {"act": act, "id": memory_id, "label": label, "meaning": meaning, "key": act[0], **more}


def _taking_back(store: Store, memory_id: str) -> list[Answer]:
    """Return the action that takes the last change of a memory back, none when nothing can be taken back."""
    change = undoing.last_undoable(store, memory_id)
    if change is None:
        return []
    meaning = f"takes back: {deeds.event_words(change.verb)}"
    return [_action("undo", "Undo", meaning, memory_id, change=change.name)]


def _searched(store: Store, words: str) -> list[Row]:
    """Return the memories that match *words*, the newest when there are no words."""
    if not words.strip():
        return list(list_memories(store, Filter(), limit=ROWS).rows)
    hits = recall(store, Query(words, limit=ROWS)).hits
    sure = [hit for hit in hits if hit.confidence is not Confidence.NONE]
    rows = []
    for hit in sure or hits:
        try:
            rows.append(find(store, hit.id))
        except NotFound:
            continue  # it is in another project, or was deleted just now
    return rows


def _spent(store: Store) -> str:
    """Return the cost of learning by a model today, as a sentence."""
    settings, spent = store.settings, spending(store)
    if settings.on_plan:
        return f"Calls on your plan today: {spent.plan_calls} of {settings.daily_plan_calls}."
    if not settings.model_calls:
        return "No model is called and nothing was spent."
    calls = f"Model calls today: {spent.today_calls} of {settings.daily_calls}"
    return f"{calls}, {today(spent)} of ${settings.daily_usd:.2f} spent."


def _waiting(entry: Entry, opened: str) -> Answer:
    """Return the row of an entry that waits; if *opened*, whole and with a button for each answer."""
    content: Answer = {
        "id": f"{entry.kind} {entry.name}",
        "title": visible(entry.title),
        "about": shown.why(entry),
    }
    if content["id"] != opened:
        return content
    lines = [*_words(entry), *_merged(entry)]
    if sum(map(len, lines)) > LONGEST:
        content["text"] = [f"It is too long to be shown here: 'daybook review accept {entry.name}' shows it."]
        return content
    content["text"], content["below"] = list(map(visible, lines)), _places(entry)
    content["actions"] = [
        {
            **_action("settle", answer.replace("-", " ").capitalize(), _meaning(meaning), entry.name),
            "kind": entry.kind,
            "answer": answer,
            "digest": entry.digest,
            "key": answer[0],
        }
        for answer, meaning in shown.choices(entry).items()
        if answer != Verdict.LATER
    ]
    return content


def _words(entry: Entry) -> list[str]:
    """Return the whole text of *entry*, the memories of a question one after the other."""
    words = [*entry.text.splitlines(), *shown.about(entry)]
    if entry.against is None:
        return words
    second = entry.against
    named = [
        f"{place}, {side.updated:%F}: {side.title}" for place, side in (("First", entry), ("Second", second))
    ]
    return [named[0], *words, "", named[1], *_words(second)]


def _places(entry: Entry) -> list[str]:
    lines = [f"{entry.type} {entry.id} {entry.updated:%F}", entry.path]
    return [*map(visible, lines), *(_places(entry.against) if entry.against else [])]


def _meaning(choice: str) -> str:
    """Return the meaning of a choice, without its name, which is on the button."""
    return choice.rpartition(": ")[2]


def _merged(entry: Entry) -> list[str]:
    return ["", "The merged text would be:", *shown.whole_merged(entry)] if entry.merged else []


def _settle(store: Store, name: str, payload: Payload) -> str:
    """Settle the entry that the person was shown; do nothing if it has changed since."""
    try:
        waiting = review.review(store, [name])
    except NotFound:
        waiting = review.Review((), {})
    if became := waiting.before.get(name):  # by another session, or by a press whose answer came too late
        return f"{name}: {became.value} already."
    entry = next(
        (entry for entry in waiting.entries if (entry.kind, entry.name) == (payload.get("kind"), name)), None
    )
    if entry is None:
        return f"{name}: not settled, because it no longer waits."
    shown_then = replace(entry, digest=str(payload.get("digest")))
    became = review.settle(store, shown_then, Verdict(str(payload.get("answer"))))
    outcome = shown.outcome(entry, became)
    return f"{name}: {outcome if became in shown.UNSETTLED else outcome.partition(':')[0]}."


def _pin(store: Store, memory_id: str, payload: Payload) -> str:
    pinned = payload.get("act") == "pin"
    return shown_hot.pinned(promote.pin(store, memory_id, pinned=pinned)).head


def _forget(store: Store, memory_id: str, payload: Payload) -> str:
    del payload
    return shown_memory.forgotten(forget(store, memory_id)).head


def _undo(store: Store, memory_id: str, payload: Payload) -> str:
    change = undoing.last_change(store, memory_id)
    return shown_history.undone(undoing.undo(store, change, shown=str(payload.get("change")))).head


ACTS: dict[str, Callable[[Store, str, Payload], str]] = {
    "settle": _settle, "pin": _pin, "unpin": _pin, "forget": _forget, "undo": _undo
}  # fmt: skip


def _persons(application: Application) -> Store:
    return application.opened.store().acting_as(PERSON)
