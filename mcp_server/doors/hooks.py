"""
The hooks that Claude Code starts as a process: `python -m mcp_server.doors.hooks SessionStart`.

Standard library only, and fail open: whatever happens, exit 0 and nothing or JSON on stdout.
A memory must never break or delay a session.
"""

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LARGEST_INPUT = 4 * 1024 * 1024  # bytes of stdin that are read
SETUP = "DAYBOOK_SETUP"  # the launcher sets it to `missing` while the Python environment is being made
MODULE = "DAYBOOK_MODULE"  # `marked`: the module in the client reached no server with a prompt of #remember
FAILED = "DAYBOOK_SETUP_FAILED"  # why it could not be made, as the launcher says it; empty when it is new


def session_start(event: dict[str, Any]) -> dict[str, Any]:
    """Return the brief as context, and for the person what needs them, or that Daybook is being set up."""
    answer: dict[str, Any] = {}
    if os.environ.get(SETUP) == "missing":
        answer["systemMessage"] = _not_set_up() if os.environ.get(FAILED) else _setting_up()
    from mcp_server.core.errors import SettingsError

    text = need = ""
    try:
        if event.get("source") not in ("resume", "fork"):
            text, need = _brief(event)
        elif event.get("transcript_path"):  # `doctor`, which tests the hook, gives none
            store, folder = _opened(event)
            if event.get("source") == "fork":
                from mcp_server.actions.capture.note import note_fork

                path = Path(str(event["transcript_path"]))
                note_fork(store, path, silent_for=event.get("seconds_since_last_response"))
            _note_session(store, folder)  # what was shown at its start is still in the conversation
    except SettingsError as error:
        need = f"Daybook rests until its settings are right. {error.with_hint}"
    if need:
        answer.setdefault("systemMessage", need)
    return answer | _context("SessionStart", text)


def session_end(event: dict[str, Any]) -> dict[str, Any]:
    """
    Note how far the transcript has grown, and start the worker; Claude Code waits for neither.

    Where nothing is captured the worker only does upkeep, and exchanges with other machines and the team.
    """
    from mcp_server.actions.capture.note import captures, lasting, note_ended, upkeep_is_due
    from mcp_server.adapters.own_process import start_worker
    from mcp_server.adapters.remote.notes import has_remote
    from mcp_server.adapters.team_membership import has_team

    store, folder = _opened(event)
    path = Path(str(event.get("transcript_path", "")))
    shares = has_remote(store.home) or has_team(store.home)
    if captures(store, path):
        if store.session:
            store.try_record("session_ended")
        note_ended(store, path, folder=lasting(store, folder))
        if os.environ.get(SETUP) != "missing":
            start_worker(os.environ)
    elif (upkeep_is_due(store) or shares) and os.environ.get(SETUP) != "missing":
        start_worker({**os.environ, "CLAUDE_PROJECT_DIR": str(folder)})
    return {}


def user_prompt_submit(event: dict[str, Any]) -> dict[str, Any]:
    """
    Return the memories that the prompt calls for, by words alone, and what the person should be told.

    Where our environment exists, the launcher runs this only in place of our module: the client lacks it, or
    it reached no server with a prompt of #remember.
    """
    from mcp_server.actions.context.inject import note_shown
    from mcp_server.adapters.parent_processes import client_started_by_claude
    from mcp_server.core.settings import is_unattended
    from mcp_server.doors import turns

    store, folder = _opened(event)
    prompt = str(event.get("prompt") or "")
    called = turns.called_for(store, prompt[: turns.LONGEST_PROMPT], folder=folder)
    texts = [called.text]
    if turns.is_marked(prompt) and not client_started_by_claude():
        if os.environ.get(SETUP) == "missing":
            texts.append(f"{turns.MARKED} this prompt; Daybook stores it when it is set up. Tell the person.")
        else:
            texts.append(turns.mark(_opened_whole(folder, store.session).store(), prompt))
    elif (pasted := turns.tag_in_a_paste(prompt)) and not client_started_by_claude():
        texts.append(pasted)
    need = _not_set_up() if os.environ.get(FAILED) else ""
    if not is_unattended(os.environ):
        texts += turns.losses_to_tell(store)
        if os.environ.get(SETUP) != "missing" and os.environ.get(MODULE) != "marked":  # the module asks
            texts += turns.learning_request(store)
            need = "" if _key(folder) else turns.learning_offer(store)
    note_shown(store, called)
    answer = {"systemMessage": need} if need else {}
    return answer | _context("UserPromptSubmit", "\n".join(filter(None, texts)))


def subagent_start(event: dict[str, Any]) -> dict[str, Any]:
    """Return the brief of a subagent."""
    from mcp_server.actions.context.brief import brief

    store, folder = _opened(event)
    return _context("SubagentStart", brief(store, for_subagent=True, folder=folder).text)


def stop(event: dict[str, Any]) -> dict[str, Any]:
    """Note the turn and do the work that it leaves; needs our environment, and Claude Code does not wait."""
    from mcp_server.actions.capture.note import lasting
    from mcp_server.actions.judge.persons_word import last_turn
    from mcp_server.adapters.own_process import start_worker
    from mcp_server.adapters.parent_processes import client_started_by_claude
    from mcp_server.doors.turns import LONGEST_REPLY, look_back, note_turn

    light, folder = _opened(event)
    opened = _opened_whole(folder, light.session)
    store = opened.store()
    transcript = Path(str(event.get("transcript_path") or ""))
    if transcript.name:
        note_turn(
            store,
            transcript,
            folder=lasting(store, folder),
            start_worker=lambda: start_worker(opened.environment),
        )
    reply = str(event.get("last_assistant_message") or "")[:LONGEST_REPLY]
    prompt = "" if client_started_by_claude() else last_turn(transcript)
    look_back(store, transcript, reply, prompt=prompt)
    return {}


def pre_compact(event: dict[str, Any]) -> str:
    """
    Keep what a compaction takes out of the context; return what its summary is to mention, '' for nothing.

    Claude Code takes plain text here.
    """
    from mcp_server.actions.capture.note import captures, lasting, note_ended
    from mcp_server.actions.context.compaction import before_compaction
    from mcp_server.adapters.own_process import start_worker
    from mcp_server.environment import persons_own

    store, folder = _opened(event)
    transcript = Path(str(event.get("transcript_path") or ""))
    if not captures(store, transcript):
        return ""
    note_ended(store, transcript, folder=lasting(store, folder))
    start_worker(persons_own(os.environ, folder))
    return before_compaction(store, transcript)


WITHOUT_WARNINGS = ("SessionStart", "SubagentStart")
"""Events that load no module that logs (tests/test_architecture.py): `logging` is slow to load."""
EVENTS: dict[str, Callable[[dict[str, Any]], dict[str, Any] | str]] = {
    "SessionStart": session_start,
    "UserPromptSubmit": user_prompt_submit,
    "SubagentStart": subagent_start,
    "Stop": stop,
    "PreCompact": pre_compact,
    "SessionEnd": session_end,
}


def main() -> None:
    """Run the hook named on the command line with the JSON on stdin."""
    gc.disable()  # a tenth of a second makes less garbage than collecting costs
    os.umask(0o077)  # other users must not read the log
    try:
        from mcp_server.core.settings import hooks_are_off

        if not hooks_are_off(os.environ):
            if sys.argv[1] not in WITHOUT_WARNINGS:
                _log_warnings()
            event = json.loads(sys.stdin.buffer.read(LARGEST_INPUT) or b"{}")
            answer = EVENTS[sys.argv[1]](event if isinstance(event, dict) else {})
            if answer:
                sys.stdout.write(answer if isinstance(answer, str) else json.dumps(answer))
                sys.stdout.flush()
    except BaseException as error:
        _log(f"{type(error).__name__}: {error}")
    os._exit(0)


def _setting_up() -> str:
    launcher = Path(__file__).resolve().parents[2] / "bin" / "daybook"
    return (
        "Daybook is setting itself up (once, about a minute). Memory works as soon as that is done;"
        f" if the next session says so again, '{launcher} doctor' in a terminal shows why."
    )


def _not_set_up() -> str:
    return f"Daybook could not set itself up: {os.environ[FAILED]} Each new session tries again."


def _context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}} if text else {}


def _brief(event: dict[str, Any]) -> tuple[str, str]:
    """Return the text for the session, and one line for the person."""
    from mcp_server.actions.context.brief import brief, is_of_new_index, note_given
    from mcp_server.actions.context.notice import notice
    from mcp_server.core.errors import IndexUnavailable
    from mcp_server.core.settings import is_unattended

    store, folder = _opened(event)
    _note_session(store, folder)
    compacted = event.get("source") == "compact"
    survived: list[str] = []
    if compacted:
        from mcp_server.actions.context.compaction import after_compaction

        survived = after_compaction(store)
    text = ""
    try:
        is_owed = is_of_new_index(store) and not compacted  # it may hold a part of what there is
        if not is_owed:
            shown = brief(store, notices=survived, again=store.session if compacted else "", folder=folder)
            note_given(store, shown, folder=folder, compacted=compacted)
            text = shown.text
    except IndexUnavailable:  # it is being made, or will be
        is_owed = True
    if is_owed:
        from mcp_server.actions.context.late_brief import note_owed

        note_owed(store)
    if is_unattended(os.environ):
        return text, ""
    about = notice(store, identity=_key(folder))
    if about is None:
        return text, ""
    from mcp_server.doors.shown import needs

    return text, needs.notice(about)


def _key(folder: Path) -> str:
    """Return an identifier of the person's key for the model, '' when there is none."""
    from mcp_server.bootstrap import model_identity
    from mcp_server.environment import persons_own

    return model_identity(persons_own(os.environ, folder))


def _note_session(store: Any, folder: Path) -> None:
    from mcp_server.actions.capture.note import note_session
    from mcp_server.actions.judge.started_by_claude import note_by_claude
    from mcp_server.adapters.parent_processes import client_started_by_claude

    note_session(store, folder=str(folder))
    if client_started_by_claude():
        note_by_claude(store)


def _opened(event: dict[str, Any]) -> tuple[Any, Path]:
    """Return the store as seen from the session's folder, in that session, and the folder."""
    from mcp_server.bootstrap import open_for_reading, working_folder
    from mcp_server.core.bounds import session_id

    named = os.environ.get("CLAUDE_PROJECT_DIR") or event.get("cwd")
    folder = Path(named) if named else working_folder(os.environ)
    return open_for_reading(os.environ, folder).in_session(session_id(event.get("session_id"))), folder


def _opened_whole(folder: Path, session: str) -> Any:
    """Return what opens a writable store, which needs the packages of our environment."""
    import site

    from mcp_server.bootstrap import Opened
    from mcp_server.core.authors import CLAUDE

    site.main()  # the launcher starts hooks without them: most need none
    return Opened(folder=folder, wait_for_model=False, by=lambda: CLAUDE, session=lambda: session)


def _log_warnings() -> None:
    """Write warnings of other modules to the store's log: a hook prints nothing but its answer."""
    import logging

    class StoreLog(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            _log(record.getMessage())

    logging.lastResort = StoreLog(logging.WARNING)


def _log(trouble: str) -> None:
    """Write one line to the store's log, which is at most a megabyte."""
    try:
        from mcp_server.adapters import files
        from mcp_server.bootstrap import memory_dir
        from mcp_server.core.secrets.redaction import redact

        path = memory_dir(os.environ) / "logs" / "hooks.log"
        files.make_folder(path.parent)
        if path.exists():
            if path.stat().st_size > 1_000_000:
                path.replace(path.with_suffix(".log.1"))
            else:
                path.chmod(files.FILE_MODE)  # an earlier version left it to the umask
        line = redact(f"{sys.argv[1:]} {trouble}").replace("\n", " ").strip()
        files.append_line(path, line.encode("utf-8", "replace"), durable=False)
    except BaseException:  # it cannot be logged anywhere
        return


if __name__ == "__main__":
    main()
