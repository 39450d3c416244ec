"""
The effects of a prompt and an answer, both for the running server and for a hook's own process.

Standard library only; modules that a prompt does not need are imported where they are used: a prompt waits.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from mcp_server.actions.context import inject, late_brief
from mcp_server.adapters.remote.notes import has_remote
from mcp_server.core.errors import DaybookError, IndexUnavailable, Rejected, disk_refused
from mcp_server.core.render import one_line
from mcp_server.store import Store

log = logging.getLogger(__name__)

LONGEST_PROMPT = 20_000  # characters of a prompt that are read
LONGEST_REPLY = 200_000  # characters of a reply that are read
TO_TELL = "Daybook, to tell the person:"
TAG = "#remember"
MARKED = "Daybook: the person marked with #remember"
MOVED = (
    f"{TO_TELL} this session moved to {{}}, but Daybook remembers and recalls for {{}} as before;"
    " a new session that is started there has the memory of that place."
)
PASTED = (
    f"{TO_TELL} #remember stands in what looks pasted, so nothing was stored;"
    " if they meant it, they type it at the beginning of a prompt."
)


def called_for(
    store: Store, prompt: str, *, folder: Path, taken_back: Collection[tuple[str, str]] = ()
) -> inject.Called:
    """
    Return the memories that *prompt* calls for, with those that came since the session in *folder* began.

    Those that went with a prompt which was *taken_back*, (ref, digest) of each, may come again.
    A session that began without an index is shown its brief, too. Empty on an error: nothing else may depend
    on it.
    """
    try:
        if late := late_brief.owed(store, folder):
            in_brief = list(zip(late.refs, late.digests, strict=True))
            called = inject.called_for(store, prompt, already_given=in_brief, taken_back=taken_back)
            return replace(called, text="\n".join(filter(None, (late.text, called.text))), late_brief=late)
        if not has_remote(store.home):
            return inject.called_for(store, prompt, taken_back=taken_back)
        from mcp_server.actions.context.from_other_machines import arrived  # most stores have no remote

        new = arrived(store)
        called = inject.called_for(store, prompt, already_given=new.shown, taken_back=taken_back)
        return replace(called, text="\n".join(filter(None, (new.text, called.text))), arrived=new.note)
    except IndexUnavailable as error:  # it is being made, or heals by itself
        log.info("what a prompt calls for is not known: %s", error)
        return inject.Called()
    except (DaybookError, OSError) as error:
        log.warning("what a prompt calls for is not known: %s", error)
        return inject.Called()


def losses_to_tell(store: Store) -> list[str]:
    """Return, once, a line for Claude about each loss of memories that the person must know; usually []."""
    from mcp_server.actions.files.vanished_folders import take_losses

    losses = take_losses(store.home)
    if not losses:
        return []
    from mcp_server.doors.shown.trouble import remark  # most prompts have none

    return [f"{TO_TELL} {remark(loss)}" for loss in losses]


def move_to_tell(store: Store, there: Store, root: str) -> list[str]:
    """Return a line for Claude if *root*, seen as *there*, is of another project than *store*."""
    if (store.project and store.project.key) == (there.project and there.project.key):
        return []
    return [MOVED.format(one_line(root), store.project.name if store.project else "no project")]


def learning_request(store: Store) -> list[str]:
    """Return what Claude is asked to do for learning, with a session's second prompt; usually []."""
    from mcp_server.actions.capture.learn_by_agent import request_is_due  # the server asks in another way

    if not request_is_due(store):
        return []
    from mcp_server.doors.shown.learning import REQUEST

    return [REQUEST]


def learning_offer(store: Store) -> str:
    """Return, once, what the person may allow; usually ''."""
    from mcp_server.actions.capture.learn_by_agent import offer_is_due  # the server asks in another way

    if not offer_is_due(store):
        return ""
    from mcp_server.doors.shown.learning import OFFER

    return OFFER


def is_marked(prompt: str) -> bool:
    """Tell whether the person marks something with #remember in *prompt*, and does not only quote the tag."""
    if TAG not in prompt.lower():
        return False
    from mcp_server.core.sessions.marked_prompt import marked  # few prompts need it

    return marked(prompt) is not None


def tag_in_a_paste(prompt: str) -> str:
    """Return the text for Claude when #remember stores nothing because it looks pasted, '' otherwise."""
    if TAG not in prompt.lower():
        return ""
    from mcp_server.core.sessions.marked_prompt import marked_in_a_paste  # few prompts need it

    return PASTED if marked_in_a_paste(prompt) else ""


def mark(store: Store, prompt: str) -> str:
    """Store what the person marked with #remember; return the text about it for Claude."""
    from mcp_server.actions.judge.remember_marker import remember_marked
    from mcp_server.doors.shown.draft_outcome import note

    try:
        result = remember_marked(store, prompt)
    except Rejected as error:
        return f"{MARKED} this prompt, and Daybook did not store it: {error.with_hint} Tell the person."
    except (DaybookError, OSError) as error:
        log.warning("what was marked with #remember waits for the transcript: %s", error)
        reason = disk_refused(error) if isinstance(error, OSError) else error
        return f"{MARKED} this prompt, and Daybook could not store it now: {reason} Tell the person."
    if result is None:
        return ""
    if result.outcome is None:
        return f"{MARKED} nothing else: store with the tool remember what they mean by that."
    verb = "known already" if result.outcome.known else "remembered"
    masked = " A secret in it was taken out." if result.masked else ""
    return (
        f"{MARKED} this prompt, and Daybook has stored it; do not store it again."
        f" {result.outcome.id}: {verb}. {note(result.outcome)}".rstrip()
        + masked
    )


def note_turn(store: Store, transcript: Path, *, folder: str, start_worker: Callable[[], None]) -> None:
    """Note how far *transcript* has grown after an answer; start a worker when enough of it waits."""
    from mcp_server.actions.capture.note import note_answer

    if note_answer(store, transcript, folder=folder):
        start_worker()


def look_back(store: Store, transcript: Path, reply: str, *, prompt: str) -> None:
    """
    Do the work that a turn leaves: the managed block, what *reply* used, whose words Claude stored.

    Nothing waits for it, so a failure is one line in the log.
    """
    from mcp_server.actions.context.claude_md import refresh
    from mcp_server.actions.judge.origins import judge_session
    from mcp_server.actions.sessions.quality import note_use

    def judge() -> None:
        if transcript.name:
            judge_session(store, transcript, prompt=prompt)

    steps: dict[str, Callable[[], object]] = {
        "the block in CLAUDE.md was not refreshed": lambda: refresh(store),
        "what the reply makes use of was not noted": lambda: note_use(store, reply, prompt=prompt),
        "what the session stored waits": judge,
    }
    for otherwise, step in steps.items():
        try:
            step()
        except (DaybookError, OSError) as error:
            log.warning("%s: %s", otherwise, error)
    store.database.close()
