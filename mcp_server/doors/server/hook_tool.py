"""
The tool by which Daybook's module in the client, and a hook of Daybook's own tools, reach the running server.

A prompt is answered before the protocol library is loaded: code that a prompt does not need is imported where
it is used. The memories that a prompt calls for count as told when the module confirms it: a late answer was
not shown. Every answer is JSON, `{}` when there is nothing to say. A hook never fails and never delays: an
error is one line in the log.

What is said here counts as the person's, so the model may not say it: some clients offer it each listed
tool. The client gives each of the model's calls an id, those of a module one that begins with BY_A_PLUGIN,
and those of a hook none.
"""

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp_server.actions.context.inject import Called, note_shown
from mcp_server.actions.status.module_seen import note_module
from mcp_server.bootstrap import Opened
from mcp_server.core import bounds
from mcp_server.core.authors import CLAUDE
from mcp_server.core.errors import DaybookError
from mcp_server.core.settings import PROPOSES, hooks_are_off, is_unattended
from mcp_server.doors import turns
from mcp_server.doors.server.session import BY_A_PLUGIN, PERSONS, TOOL_USE, Session, session_of

log = logging.getLogger(__name__)

HOOK_EVENTS = frozenset({"Begun", "UserPromptSubmit", "Told", "TakenBack", "Stop", "PreToolUse"})
"""The events that are answered before the protocol library is loaded."""
NOTHING = "{}"
REFUSED = json.dumps({"text": "This is for Daybook's module in the client."})


class Look:
    """Checks the index of what is *opened* in parallel with answers: a wrong one is not given twice."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._looking = threading.Lock()

    def beside(self) -> None:
        """Start a check in a thread of its own when one is due."""
        if self._opened.look_is_due() and self._looking.acquire(blocking=False):
            threading.Thread(target=self._look, name="look", daemon=True).start()

    def _look(self) -> None:
        try:
            self._opened.finds_damage()
        finally:
            self._looking.release()
            self._opened.database.close()


class Hooks:
    """Answers the hooks of one session, and keeps what it learns of that session."""

    def __init__(self, opened: Opened) -> None:
        self.session: Session = session_of(opened.environment)
        self.look = Look(opened)
        self.inside: Callable[[str, dict[str, Any]], str] | None = None  # once the protocol library is loaded
        self._opened = opened
        self.is_foreign = False  # whether the client is another one than Claude Code
        opened.by, opened.session = lambda: CLAUDE, lambda: self.session.id
        self._on = not hooks_are_off(opened.environment)
        self._called = Called()  # what the last prompt called for, until the module confirms it
        # (ref, digest) of what came with prompts since the last answer, and with those that were taken back.
        self._in_turn: set[tuple[str, str]] = set()
        self._taken_back: set[tuple[str, str]] = set()
        self._to_tell: list[str] = []  # what the person must be told, until they were
        self._root = str(opened.folder)  # the folder where the session is
        self._noted = ""  # the last session that was noted as started by Claude

    def answer(
        self,
        event: str = "",
        session_id: str = "",
        prompt: str = "",
        transcript_path: str = "",
        reply: str = "",
        origin: str = "",
        module: str = "",
        root: str = "",
        tool: str = "",
        given: dict[str, Any] = {},  # noqa: B006
    ) -> str:
        """
        Return what the hook of *event* is told, as JSON; what the module alone asks is answered by `inside`.

        A call of the model does nothing, whatever it claims to be. These are the parameters of the tool
        itself, before the protocol library is loaded and after.
        """
        caller = TOOL_USE.get()
        if not caller.startswith(BY_A_PLUGIN) and (caller or event not in HOOK_EVENTS):
            return REFUSED
        if self.inside and event not in HOOK_EVENTS:
            self.meet(session_id)
            return self.inside(event, given)
        session = self.session
        try:
            self.meet(session_id)
            session.reported = Path(transcript_path) if transcript_path else session.reported
            if event == "UserPromptSubmit":
                theirs = origin in ("", *PERSONS) and not session.by_claude
                session.typed = prompt[: turns.LONGEST_PROMPT] if theirs else ""
            if module:
                note_module(self._opened.home, module)
            if event == "Begun":
                return NOTHING
            if event == "PreToolUse":
                return self._permission(tool)
            output = NOTHING
            if self._on:
                self._note_move(root)
                output = self._output(event, prompt, Path(transcript_path), reply[: turns.LONGEST_REPLY])
            self._opened.database.trouble.remarks()  # no one reads them here
            self.look.beside()
            return output
        except (DaybookError, OSError) as error:
            log.warning("hook %s: %s", event, error)
        except Exception:  # a memory must never break a session
            log.exception("hook %s failed", event)
        return NOTHING

    def _permission(self, tool: str) -> str:
        """Return the permission to run *tool*; the one that proposes needs the person's consent."""
        reason = "Daybook's own reading tools"
        if tool == PROPOSES:
            if not self._opened.store().settings.on_plan:
                return NOTHING
            reason = "the person agreed that Daybook learns on their plan"
        return _answer("PreToolUse", permissionDecision="allow", permissionDecisionReason=reason)

    def meet(self, session_id: str) -> None:
        """
        Learn which session the client is in, which changes with /clear; note it where Claude started that.

        Raises Rejected for what is no id.
        """
        session, before = self.session, self.session.id
        session.id = bounds.session_id(session_id) or session.id
        if session.id != before:
            self._in_turn.clear()
            self._taken_back.clear()
        if session.by_claude and session.id != self._noted:
            from mcp_server.actions.judge.started_by_claude import note_by_claude

            note_by_claude(self._opened.store())
            self._noted = session.id

    def _note_move(self, root: str) -> None:
        """Note what to tell when the session is in the folder *root* by now; '' where that is unknown."""
        if root in ("", self._root):
            return
        self._root = root
        self._to_tell += turns.move_to_tell(self._opened.store(), self._opened.store(folder=Path(root)), root)

    def _output(self, event: str, prompt: str, transcript: Path, reply: str) -> str:
        session = self.session
        store = self._opened.store()
        if event == "UserPromptSubmit":
            # Before what it marks is a memory.
            folder = self._opened.folder
            self._called = turns.called_for(
                store, prompt[: turns.LONGEST_PROMPT], folder=folder, taken_back=self._taken_back
            )
            if not is_unattended(self._opened.environment):
                self._to_tell += turns.losses_to_tell(store)
            texts = [self._called.text, *self._to_tell]
            if session.typed:
                if turns.is_marked(prompt):
                    texts.insert(1, turns.mark(store, prompt))
                texts.append(turns.tag_in_a_paste(prompt))
            return _context(event, "\n".join(filter(None, texts)))
        if event == "Told":
            note_shown(store, self._called)
            self._in_turn |= self._called.given
            self._taken_back -= self._called.given
            self._called = Called()
            self._to_tell.clear()
        if event == "TakenBack":
            self._taken_back |= self._in_turn
        if event in ("TakenBack", "Stop"):
            self._in_turn.clear()
        if event == "Stop":
            from mcp_server.actions.capture.note import lasting
            from mcp_server.adapters.own_process import start_worker

            transcript = transcript if transcript.name else session.transcript() or transcript
            threading.Thread(
                target=turns.look_back,
                args=(store, transcript, reply),
                kwargs={"prompt": session.prompt},
                name="look-back",
                daemon=True,
            ).start()
            if transcript.name:
                turns.note_turn(
                    store,
                    transcript,
                    folder=lasting(store, self._opened.folder),
                    start_worker=lambda: start_worker(self._opened.environment),
                )
        return NOTHING


def _context(event: str, text: str) -> str:
    return _answer(event, additionalContext=text) if text else NOTHING


def _answer(event: str, **fields: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}}, ensure_ascii=False)
