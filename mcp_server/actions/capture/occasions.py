"""
occasions: a model is asked when the memories help that have few occasions (`use_when`) or none.

The consent, the limits and the roads are those of learning; there has to be nothing left to learn. Each
memory is asked about once. What the model says is one run, so that `undo` takes it back as one. It is kept on
the disk until it is in the memories, so that no call is paid for twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mcp_server.actions.files import runs
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import is_shown, read_rows
from mcp_server.actions.files.sync import catch_up, catch_up_if_free
from mcp_server.actions.model.model_call import NOBODYS, call_model
from mcp_server.adapters import files, json_file, places
from mcp_server.adapters.index.events import a_list, deeds, spending, tidying
from mcp_server.adapters.index.events import occasions as asked
from mcp_server.adapters.prompts import prompt
from mcp_server.core.authors import MODEL, PERSON
from mcp_server.core.budget import Reply
from mcp_server.core.capture.occasions import (
    ANSWER_TOKENS,
    ENOUGH,
    LEAST,
    MOST,
    MOST_A_DAY,
    answered,
    request,
)
from mcp_server.core.digests import text_digest
from mcp_server.core.errors import Conflict, ModelUnavailable
from mcp_server.core.list_key import extended
from mcp_server.core.memory import USE_WHEN
from mcp_server.core.memory_parts import Level
from mcp_server.core.runs import Change, NotMade, Reason, RunEntry, Why, change, change_of
from mcp_server.core.text.private import has_private
from mcp_server.store import Store

ABOUT = "occasions-"  # the beginning of what the ledger calls such a question
STEP = "add occasions"
LOOKED_AT = 100  # first memories with few occasions, among which a group is sought
_SAYING = ("remembered", "revised")  # the changes that may bring occasions


@dataclass(frozen=True, slots=True)
class Group:
    """The memories of one question; no session's cost grows by it."""

    memory_files: tuple[MemoryFile, ...]

    @property
    def sessions(self) -> Mapping[str, float]:
        return NOBODYS

    @property
    def digest(self) -> str:
        """What the ledger calls the question: the same for the same memories."""
        return ABOUT + text_digest("\n".join(file.ref for file in self.memory_files))

    @property
    def question(self) -> str:
        """What a model is asked, beside the prompt `occasions`."""
        return request([(file.memory.title, file.memory.text) for file in self.memory_files])


def next_group(store: Store) -> Group | None:
    """
    Return the next memories to ask about, those without occasions first; None for too few or enough today.

    They are the person's own and this project's, outside repositories, and may be shown with a prompt.
    Occasions that the person may have written are left as they are, and what they marked as private is not
    asked about. There are none while an answer waits.
    """
    if store.settings.capture != "auto" or _answer_path(store).exists():
        return None
    catch_up(store)
    vaults = [v.key for v in store.private_vaults if v.adopted and v.level is not Level.TEAM]
    with store.database.read() as db:
        if spending.today_about(db, ABOUT, store.now()) >= MOST_A_DAY:
            return None
        rows = asked.with_few(db, vaults, ENOUGH, LOOKED_AT)
    memory_files: list[MemoryFile] = []
    for file in read_rows(store, rows):
        text = f"{file.memory.title}\n{file.memory.text}"
        if is_shown(store, file) and not has_private(text) and not _may_be_persons(store, file):
            memory_files.append(file)
        if len(memory_files) == MOST:
            break
    return Group(tuple(memory_files)) if len(memory_files) >= LEAST else None


def _may_be_persons(store: Store, file: MemoryFile) -> bool:
    """Tell whether the person may have written the occasions of *file*: what they chose is not added to."""
    if not file.memory.use_when:
        return False
    with store.database.read() as db:
        is_edited = not deeds.is_as_written(db, file.ref, file.digest)
        return is_edited or bool(deeds.listed(db, ref=file.ref, events=_SAYING, by=PERSON, limit=1))


def is_usable(group: Group, reply: Reply) -> bool:
    """Tell whether *reply* answers what was asked about *group*; one that gives no occasions does."""
    return answered(reply.text, len(group.memory_files)) is not None


def take_answer(store: Store, group: Group, reply: Reply) -> int:
    """
    Add the occasions of *reply* to the memories of *group*, but to none that was changed meanwhile.

    Return how many got some. Raises OSError.
    """
    by_number = answered(reply.text, len(group.memory_files)) or {}
    changes = []
    for number, occasions in by_number.items():
        file = group.memory_files[number]
        more = extended(file.memory.use_when, occasions, USE_WHEN.most)
        if more != file.memory.use_when:
            changes.append(change(file.ref, file.memory, file.place, use_when=more).as_json())
    refs = [file.ref for file in group.memory_files]
    kept = {"run": runs.new_run(store), "refs": refs, "changes": changes}
    json_file.write_object(_answer_path(store), kept)
    return take_left_behind(store)


def take_left_behind(store: Store) -> int:
    """
    Make what is left to do of the answer on the disk, in the run that a killed process began.

    Nothing more is done of a run that was undone. While another process tidies, the answer waits.
    Return how many memories got occasions. Raises OSError.
    """
    path = _answer_path(store)
    if store.settings.capture != "auto" or not path.exists():
        return 0
    not_made: list[NotMade] = []
    try:
        with runs.alone(store):
            answer = json_file.read_object(path)
            run, refs = str(answer.get("run", "")), a_list(answer.get("refs"))
            changes = [*filter(None, map(change_of, a_list(answer.get("changes"))))]
            catch_up(store)
            with store.database.read() as db:
                begun = tidying.refs_of(db, run)
                undone = bool(begun) and not tidying.entries(db, run)
            if begun:
                runs.complete(store, run)
            left = [] if undone else [of_one for of_one in changes if of_one.ref not in begun]
            entries = [_entry(of_one, run) for of_one in left]
            for entry in entries:
                runs.attempt(store.acting_as(MODEL), entry, run, not_made)
            _note_asked(store, [str(ref) for ref in refs])
            files.delete(path)
    except Conflict:
        return 0
    return len(entries) - len(not_made)


def _entry(of_one: Change, run: str) -> RunEntry:
    return RunEntry(STEP, Reason(Why.OCCASIONS, (of_one.id,), word=run), (of_one,))


def _answer_path(store: Store) -> Path:
    """Return the path of the file that keeps an answer about the person's and this project's memories."""
    return store.home / places.WORK / f"occasions-{tidying.scope_of(store.private)}.json"


def give_up(store: Store, group: Group) -> None:
    """Note that the memories of *group* need not be asked about again."""
    _note_asked(store, [file.ref for file in group.memory_files])


def _note_asked(store: Store, refs: Sequence[str]) -> None:
    store.record(asked.ASKED, refs=list(refs))
    catch_up_if_free(store)


def ask(store: Store) -> int:
    """
    Ask about the person's and this project's memories with their key, as often as a day allows.

    Return how many got occasions. Raises what writing the ledger raises.
    """
    given = take_left_behind(store)
    while store.settings.model_calls and (group := next_group(store)):
        try:
            reply = call_model(
                store,
                item=group.digest,
                system=prompt("occasions"),
                prompt=group.question,
                most_tokens=ANSWER_TOKENS,
                is_usable=partial(is_usable, group),
            )
        except ModelUnavailable as error:
            if error.later:
                break
            give_up(store, group)
            continue
        if is_usable(group, reply):
            given += take_answer(store, group, reply)
    return given
