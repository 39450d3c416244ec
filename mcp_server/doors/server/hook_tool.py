"""
The tool that Claude Code's hooks call in the running server; it is not in the list of tools.

It is answered before the protocol library is there: what a prompt does not need is imported by whoever does.
Every answer is JSON, `{}` when there is nothing to say, but for PreCompact, whose words go to the model that
writes the summary. A hook never fails and never delays: what goes wrong is one line in the log.
"""

import json
import logging
import threading
from pathlib import Path

from mcp_server.actions.gone import tell_gone
from mcp_server.actions.inject import inject
from mcp_server.bootstrap import Opened
from mcp_server.core import bounds
from mcp_server.core.errors import DaybookError
from mcp_server.core.journal import CLAUDE
from mcp_server.core.settings import hooks_are_off, is_unattended
from mcp_server.doors.server.look import Look
from mcp_server.doors.server.session import Session, session_of
from mcp_server.store import Store

log = logging.getLogger(__name__)

HOOK_TOOL = "hook"
NOTHING = "{}"
TAG = "#remember"
GONE = "Daybook, to tell the person:"
MARKED = "Daybook: the person marked with #remember"
LONGEST_PROMPT = 20_000  # characters of a prompt that are looked at
LONGEST_REPLY = 200_000  # characters of a reply that are looked at


class Hooks:
    """What answers the hooks of one session, and what it learns of that session."""

    def __init__(self, opened: Opened) -> None:
        self.session: Session = session_of(opened.environment)
        self.look = Look(opened)
        self._opened = opened
        opened.by = lambda: CLAUDE
        self._on = not hooks_are_off(opened.environment)

    def answer(
        self,
        event: str = "",
        session_id: str = "",
        prompt: str = "",
        transcript_path: str = "",
        cwd: str = "",
        reply: str = "",
    ) -> str:
        """Return what the hook of *event* is told, as JSON; for PreCompact in plain words."""
        session = self.session
        try:
            session.id = bounds.session_id(session_id) or session.id
            session.told = Path(transcript_path) if transcript_path else session.told
            if event == "UserPromptSubmit":
                session.prompt = prompt[:LONGEST_PROMPT]
            if event == "PreToolUse":
                return _answer(
                    event,
                    permissionDecision="allow",
                    permissionDecisionReason="Daybook's own reading tools",
                )
            told = NOTHING
            if self._on:
                told = self._told(event, prompt, Path(transcript_path), cwd, reply[:LONGEST_REPLY])
            self._opened.database.trouble.remarks()  # nobody reads them here
            self.look.beside()
            return told
        except (DaybookError, OSError) as error:
            log.warning("hook %s: %s", event, error)
        except Exception:  # a memory must never break a session
            log.exception("hook %s failed", event)
        return NOTHING

    def _told(self, event: str, prompt: str, transcript: Path, cwd: str, reply: str) -> str:
        session = self.session
        store = self._opened.store()
        folder = cwd or str(self._opened.folder)
        match event:
            case "UserPromptSubmit":
                called = _called(store, session.prompt, session.id)  # before what it marks is a memory
                vanished = [] if is_unattended(self._opened.environment) else tell_gone(store.home)
                said = (called, _marked(store, prompt, session.id), *(f"{GONE} {each}" for each in vanished))
                return _context(event, "\n".join(filter(None, said)))
            case "SubagentStart":
                from mcp_server.actions.brief import brief

                return _context(event, brief(store, for_subagent=True).text)
            case "Stop":
                self._note_turn(store, transcript, folder, reply)
            case "PreCompact":
                return self._before_compaction(store, transcript, folder)
        return NOTHING

    def _note_turn(self, store: Store, transcript: Path, folder: str, reply: str) -> None:
        from mcp_server.actions.note import note_answer
        from mcp_server.adapters.own_process import start_worker

        session = self.session
        threading.Thread(target=_refresh_block, args=(store,), name="claude-md", daemon=True).start()
        threading.Thread(
            target=_note_use,
            args=(store, reply),
            kwargs={"prompt": session.prompt, "session": session.id},
            name="note-use",
            daemon=True,
        ).start()
        if transcript.name:
            threading.Thread(
                target=_judge,
                args=(store, session.id, transcript),
                kwargs={"prompt": session.prompt},
                name="judge",
                daemon=True,
            ).start()
        if note_answer(store, transcript, session=session.id, folder=folder):
            start_worker(self._opened.environment)

    def _before_compaction(self, store: Store, transcript: Path, folder: str) -> str:
        from mcp_server.actions.compaction import before_compaction
        from mcp_server.actions.note import captures, note_ended
        from mcp_server.adapters.own_process import start_worker

        if not captures(store, transcript):
            return NOTHING
        note_ended(store, transcript, session=self.session.id, folder=folder)
        start_worker(self._opened.environment)
        return before_compaction(store, transcript, session=self.session.id)


def _called(store: Store, prompt: str, session: str) -> str:
    """Return what *prompt* calls for; what stands in the way of that must not keep it from being stored."""
    try:
        return inject(store, prompt, session=session)
    except (DaybookError, OSError) as error:
        log.warning("hook UserPromptSubmit: %s", error)
        return ""


def _marked(store: Store, prompt: str, session: str) -> str:
    """Store what the person marked with #remember, and return what Claude is told of that."""
    if TAG not in prompt.lower():
        return ""  # else the first prompt of a session would wait for what stores memories
    from mcp_server.actions.marked import remember_marked
    from mcp_server.actions.read import read
    from mcp_server.doors.server import replies

    try:
        done = remember_marked(store, prompt, session=session)
        if done is None:
            return ""
        if done.settled is None:
            return f"{MARKED} nothing else: store with the tool remember what they mean by that."
        said = replies.settled(done.settled, read(store, done.settled.id))
    except (DaybookError, OSError) as error:
        log.warning("what was marked with #remember waits for the transcript: %s", error)
        return f"{MARKED} this prompt, and Daybook could not store it now: {error} Tell the person."
    masked = " A secret in it was taken out." if done.masked else ""
    return f"{MARKED} this prompt, and Daybook has stored it; do not store it again. {said}{masked}"


def _refresh_block(store: Store) -> None:
    """Let the managed block say what was remembered in this turn; nobody waits for it."""
    from mcp_server.actions.claude_md import refresh

    try:
        refresh(store)
    except (DaybookError, OSError) as error:
        log.warning("the block in CLAUDE.md was not refreshed: %s", error)
    finally:
        store.database.close()


def _note_use(store: Store, reply: str, *, prompt: str, session: str) -> None:
    """Note which of the memories that the session was given its reply makes use of; nobody waits for it."""
    from mcp_server.actions.quality import note_use

    try:
        note_use(store, reply, prompt=prompt, session=session)
    except (DaybookError, OSError) as error:
        log.warning("what the reply makes use of was not noted: %s", error)
    finally:
        store.database.close()


def _judge(store: Store, session: str, transcript: Path, *, prompt: str) -> None:
    """Look up what Claude stored in this turn and nobody judged yet; nobody waits for it."""
    from mcp_server.actions.origins import judge_session

    try:
        judge_session(store, session, transcript, prompt=prompt)
    except (DaybookError, OSError) as error:
        log.warning("what the session stored waits: %s", error)
    finally:
        store.database.close()


def _context(event: str, text: str) -> str:
    return _answer(event, additionalContext=text) if text else NOTHING


def _answer(event: str, **said: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}}, ensure_ascii=False)
