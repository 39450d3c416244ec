"""
occasions: a model is asked when the memories help that nobody gave occasions (`use_when`).

The consent, the limits and the roads are those of learning; there has to be nothing left to learn. Each
memory is asked about once. What the model says is one run, so that `undo` takes it back as one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from mcp_server.actions.files import runs
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import is_shown, read_rows
from mcp_server.actions.files.sync import catch_up, catch_up_if_free
from mcp_server.actions.model.model_call import NOBODYS, call_model
from mcp_server.adapters.index.events import occasions as asked
from mcp_server.adapters.index.events import spending
from mcp_server.adapters.prompts import prompt
from mcp_server.core.authors import MODEL
from mcp_server.core.budget import Reply
from mcp_server.core.capture.occasions import ANSWER_TOKENS, LEAST, MOST, MOST_A_DAY, answered, request
from mcp_server.core.digests import text_digest
from mcp_server.core.errors import Conflict, ModelUnavailable
from mcp_server.core.memory_parts import Level
from mcp_server.core.runs import NotMade, Reason, RunEntry, Why, change
from mcp_server.store import Store

ABOUT = "occasions-"  # the beginning of what the ledger calls such a question
STEP = "add occasions"
LOOKED_AT = 100  # newest memories without occasions, among which a group is sought


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
    Return the next memories to ask about, the newest first; None when too few wait or today had enough.

    They are the person's own and this project's, outside repositories, and may be shown with a prompt.
    """
    if store.settings.capture != "auto":
        return None
    catch_up(store)
    vaults = [v.key for v in store.private_vaults if v.adopted and v.level is not Level.TEAM]
    with store.database.read() as db:
        if spending.today_about(db, ABOUT, store.now()) >= MOST_A_DAY:
            return None
        rows = asked.without_occasions(db, vaults, LOOKED_AT)
    memory_files: list[MemoryFile] = []
    for file in read_rows(store, rows):
        if not file.memory.use_when and is_shown(store, file):
            memory_files.append(file)
        if len(memory_files) == MOST:
            break
    return Group(tuple(memory_files)) if len(memory_files) >= LEAST else None


def is_usable(group: Group, reply: Reply) -> bool:
    """Tell whether *reply* answers what was asked about *group*; one that gives no occasions does."""
    return answered(reply.text, len(group.memory_files)) is not None


def take_answer(store: Store, group: Group, reply: Reply) -> int:
    """
    Give the memories of *group* the occasions of *reply*, but none that was changed meanwhile.

    Return how many got some.
    """
    by_number = answered(reply.text, len(group.memory_files)) or {}
    run, not_made = runs.new_run(store), list[NotMade]()
    try:
        with runs.alone(store):
            for number, occasions in by_number.items():
                file = group.memory_files[number]
                changed = change(file.ref, file.memory, file.place, use_when=occasions)
                entry = RunEntry(STEP, Reason(Why.OCCASIONS, (file.memory.id,), word=run), (changed,))
                runs.attempt(store.acting_as(MODEL), entry, run, not_made)
    except Conflict:
        return 0  # another process tidies: these memories are asked about again
    give_up(store, group)
    return len(by_number) - len(not_made)


def give_up(store: Store, group: Group) -> None:
    """Note that the memories of *group* need not be asked about again."""
    store.record(asked.ASKED, refs=[file.ref for file in group.memory_files])
    catch_up_if_free(store)


def ask(store: Store) -> int:
    """
    Ask about the person's and this project's memories with their key, as often as a day allows.

    Return how many got occasions. Raises what writing the ledger raises.
    """
    given = 0
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
