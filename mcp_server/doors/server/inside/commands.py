"""
The commands that people type without a prefix, answered at once and without a model.

A command answers with `text` for the person, and `context`, where there is any, for Claude's next prompt.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcp_server.actions.capture.session_summary import so_far
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.compare_and_store import compare_and_store, looked_up
from mcp_server.actions.memory import forget as forgetting
from mcp_server.actions.memory.session import restore_session, save_session
from mcp_server.actions.model.embed import unseen
from mcp_server.actions.recall.find_named import meant_by
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review.ask_at_once import NewAndNear, pairs_of, say
from mcp_server.actions.review.entries import Verdict
from mcp_server.core.authors import PERSON
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import LIST_NAMES, LISTS, Draft
from mcp_server.core.memory_parts import Kind, Level, parted, split_list, type_or_kind
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.core.render import one_line, visible
from mcp_server.core.search.query import Filter, Query, check_question, filter_of
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.bracketed import bracketed
from mcp_server.core.text.titles import split_title
from mcp_server.doors.server import replies
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.dialog import YES_OR_NO, Asking, Unanswered
from mcp_server.doors.server.inside import texts
from mcp_server.doors.server.inside.ask_person import Inside
from mcp_server.doors.server.session import PERSONS
from mcp_server.doors.shown import memory as shown
from mcp_server.doors.shown import recall as shown_recall
from mcp_server.doors.shown.draft_outcome import answered, near_command
from mcp_server.store import Store

Answer = dict[str, Any]
SHOWN = 300  # characters of a memory in a question
HOLDS = {  # the options that Enter would choose, which change nothing
    Verdict.KEEP_BOTH: "Keep both",
    Verdict.REPLACES: "The new one replaces it",
    Verdict.MERGE: "Merge the two",
}
FORGET, KEEP = "forget", "keep"
FOREVER = "forever"


@dataclass(frozen=True, slots=True)
class Typed:
    """The words of a command, whether the person typed them, and the way to ask the person."""

    application: Application
    words: str
    by_person: bool
    dialog: Inside

    @property
    def session(self) -> str:
        return self.application.session.id

    @property
    def folder(self) -> Path:
        return self.application.opened.folder

    @property
    def source(self) -> str:
        return MANUAL if self.by_person else ASSISTANT

    @property
    def store(self) -> Store:
        """The store; the author of its changes is the person if they typed the command."""
        store = self.application.opened.store()
        return self.persons(store) if self.by_person else store

    def persons(self, store: Store) -> Store:
        """Return *store* for what the person says, here or in a dialog."""
        return store.acting_as(PERSON)


def _typed(application: Application, payload: Mapping[str, Any]) -> Typed:
    """Return the command of `words`, typed by `origin`; `answers` and `state` come from earlier questions."""
    answers, state = (payload.get(name) for name in ("answers", "state"))
    dialog = Inside(
        answers if isinstance(answers, dict) else {}, dict(state) if isinstance(state, dict) else {}
    )
    by_person = payload.get("origin") in PERSONS and not application.session.by_claude
    return Typed(application, str(payload.get("words", "")).strip(), by_person, dialog)


def run(application: Application, payload: Mapping[str, Any]) -> Answer:
    """
    Run the command `name`; `typed` holds its further input.

    Raises AskedInside, DaybookError, OSError.
    """
    return COMMANDS[str(payload["name"])](_typed(application, payload))


def _remember(command: Typed) -> Answer:
    store, dialog = command.store, command.dialog
    if "id" not in dialog.state:  # it is stored before any question: a person who never answers loses nothing
        outcome = compare_and_store(store, _draft(command), turns=command.application.turns)
        waits = "" if command.by_person else command.application.judged(outcome.id)
        outcome = looked_up(store, outcome)
        result = shown.remembered(replace(outcome, near=()), read(store, outcome.id), waits=waits)
        asks = bool(outcome.near or outcome.known)  # a person who types it again may have missed the question
        dialog.state.update(id=outcome.id, near=asks, lines=[replies.shown_lines(result)])
    stored, lines = str(dialog.state["id"]), list(map(str, dialog.state["lines"]))
    pairs = pairs_of(store, stored) if dialog.state["near"] else []
    verdicts = _how_they_stand(dialog, pairs)
    became = say(command.persons(store), verdicts)
    lines += filter(None, [answered(outcome, stored) for outcome in became])
    settled = [pair.near.id for pair, _ in verdicts]
    unsettled = (
        []
        if Verdict.MERGE in dict(verdicts).values()
        else [p.near for p in pairs if p.near.id not in settled]
    )
    return {"text": visible("\n".join([*lines, *([near_command(stored, unsettled)] if unsettled else [])]))}


def _draft(command: Typed) -> Draft:
    words, options = bracketed(command.words, ("type", *LIST_NAMES, "level", "touches"))
    if not words:
        raise Rejected("There is nothing to remember.", "For example: /remember Title | what to remember")
    title, text = split_title(words)
    level = _one_of(Level, options, "level")
    lists: dict[str, Any] = {key.name: key.texts_in(options.get(key.name, "")) for key in LISTS}
    return Draft(
        title=title,
        text=text,
        type=options.get("type", ""),
        level=Level(level) if level else None,
        touches=parted(options.get("touches", "")),
        source=command.source,
        session=command.session,
        **lists,
    )


def _one_of(words: type[Level] | type[Kind], options: Mapping[str, str], name: str) -> str:
    """Return the value *name* of *options*, '' for none; raises Rejected when it is not one of *words*."""
    word = options.get(name, "").lower()
    if word and word not in list(words):
        raise Rejected(f"'{one_line(word, 40)}' is not a {name}.", f"Use one of: {', '.join(words)}.")
    return word


def _how_they_stand(dialog: Asking, pairs: Sequence[NewAndNear]) -> list[tuple[NewAndNear, Verdict]]:
    """Return the person's answers on *pairs*; after a closed dialog it no longer asks. Raises AskedInside."""
    verdicts: list[tuple[NewAndNear, Verdict]] = []
    for pair in pairs:
        choices = {verdict.value: words for verdict, words in HOLDS.items() if verdict in pair.answers}
        answer = dialog.ask(_question(pair), choices)
        if isinstance(answer, Unanswered):
            break
        if answer == Verdict.MERGE and pair.merged:
            title, text = pair.merged
            shown_text = " ¶ ".join(text.splitlines())
            if dialog.ask(f"“{title}”: {shown_text}\nReplace both with this?", YES_OR_NO) != "yes":
                break
        verdicts.append((pair, Verdict(answer)))
    return verdicts


def _question(pair: NewAndNear) -> str:
    differs = f"They differ in {pair.near.differs}. " if pair.near.differs else ""
    return "\n".join(
        [
            f"New: {_quoted(pair.new)}",
            f"Near it, of {pair.near.updated}: {_quoted(pair.old)}",
            f"{differs}What holds?",
        ]
    )


def _quoted(file: MemoryFile) -> str:
    memory = file.memory
    return f"“{one_line(redact(f'{memory.title}: {memory.text}'), SHOWN)}” ({memory.id})."


def _recall(command: Typed) -> Answer:
    words, options = bracketed(command.words, ("type", "tags", "level", "kind"))
    check_question(words)
    chosen = filter_of(
        type=options.get("type", ""),
        tags=split_list(options.get("tags", "")),
        level=_one_of(Level, options, "level"),
        kind=_one_of(Kind, options, "kind"),
    )
    store, query = command.store, Query(words, filter=chosen)
    answer = recall(store, query, given_to=command.session or "mcp", in_context=True)
    text = texts.recalled(answer, words, waiting=unseen(store, query, answer))
    if not answer.hits:
        return {"text": text}
    lines = replies.shown_lines(shown_recall.answered(answer, words))
    return {
        "text": text,
        "context": [f"The person typed /recall {one_line(words)}, and was shown this:\n{lines}"],
    }


def _forget(command: Typed) -> Answer:
    named, _, last = command.words.rpartition(" ")
    forever = last == FOREVER  # the whole word: an id may end so
    words = named.strip() if forever else command.words
    if not words:
        raise Rejected("No memory was named.", "For example: /forget ID, or words of its title.")
    store = command.store
    meant = meant_by(store, words, Filter())
    if not meant.files:
        raise Rejected(
            f"No memory is called '{one_line(words, 80)}', and no memory has these words.",
            "/recall finds more.",
        )
    if len(meant.files) > 1 or not meant.sure:
        return {"text": texts.several(meant.files, "forget", sure=meant.sure)}
    (file,) = meant.files
    own = file.memory.id
    choices = {KEEP: "Keep it", FORGET: "Delete it for good" if forever else "Forget it"}
    answer = command.dialog.ask(_goodbye(file, forever=forever), choices)
    if answer != FORGET:
        typed_instead = f"daybook forget {own}{' --forever' if forever else ''}"
        return {
            "text": "Nothing was forgotten. To forget it without a question, type in a terminal:"
            f" {typed_instead}"
        }
    outcome = forgetting.forget(command.persons(store), own, forever=forever)
    return {"text": replies.shown_lines(shown.forgotten(outcome))}


def _goodbye(file: MemoryFile, *, forever: bool) -> str:
    end = "It cannot be brought back." if forever else "It can be brought back from the trash."
    act = "Delete for good" if forever else "Forget"
    description = f"{type_or_kind(file.memory.kind, file.memory.type)} of {file.memory.updated:%Y-%m-%d}"
    return f"{act} the {description}: {_quoted(file)}\n{end} Agreed?"


def _save_session(command: Typed) -> Answer:
    """Save what is known of this session under the words given, or its first prompt. Raises DaybookError."""
    application, folder = command.application, command.folder
    work = so_far(application.session.transcript(), folder)
    if work is None:
        raise Rejected("You have asked nothing in this session yet, so there is nothing to save.", "")
    saved = save_session(
        command.store,
        command.words or work.title,
        work.text,
        files=work.files,
        folder=folder,
        source=ASSISTANT,  # no matter who saves it, it contains words of Claude and of others
    )
    own = saved.memory.id
    text = replies.shown_lines(shown.saved(saved, "session", waits=application.judged(own)))
    return {"text": f"{text}\nIt comes back with: /restore-session {own}"}


def _restore_session(command: Typed) -> Answer:
    """Show the saved session that the words name, without words the last one, and what changed since."""
    store, words = command.store, command.words
    if words not in ("", "latest", "last"):
        meant = meant_by(store, words, Filter(kinds=(Kind.SESSION,)))
        if meant.files and (len(meant.files) > 1 or not meant.sure):
            return {"text": texts.several(meant.files, "restore-session", sure=meant.sure)}
        words = meant.files[0].memory.id if meant.files else words
    try:
        file, since = restore_session(store, words, folder=command.folder)
    except NotFound as error:
        hint = error.hint if words not in ("", "latest", "last") else "/save-session saves this one."
        raise Rejected(str(error), hint) from None
    whole = replies.shown_lines(shown.saved_session(file, since))
    context = f"The person brought back a saved session with /restore-session:\n{whole}"
    return {"text": texts.session(file, since), "context": [context]}


COMMANDS: dict[str, Callable[[Typed], Answer]] = {
    "remember": _remember,
    "recall": _recall,
    "forget": _forget,
    "save-session": _save_session,
    "restore-session": _restore_session,
}
