"""One check of `daybook doctor`: whether a part works, and the advice when it does not."""

from __future__ import annotations

import shlex

from mcp_server.actions.status.checks import (
    AllowedModel,
    CapturedLate,
    Captures,
    CaughtEdits,
    Check,
    CheckedPart,
    ClaudeSettings,
    Finding,
    HookFails,
    LastExchange,
    Memories,
    Missing,
    NotExecutable,
    NotTakenIn,
    OpenedModel,
    PlanCalls,
    Plugin,
    Seen,
    ServerFails,
    StoreFolder,
    SwitchedOff,
    TeamSeen,
    Toolsets,
)
from mcp_server.actions.status.module_seen import ModuleSeen
from mcp_server.core.errors import DaybookError
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown, minute, moment, trouble
from mcp_server.doors.shown.figures import captured, today

ADVICE = {
    CheckedPart.SQLITE: "Install a Python whose sqlite3 has FTS5.",
    CheckedPart.STORE: "Make room on its disk, make the folder writable, or set MEMORY_DIR.",
    CheckedPart.INDEX: "Run 'daybook maintain all'.",
    CheckedPart.FILES: "Do what 'daybook sync' says about each file that it names.",
    CheckedPart.EDITS: "Copy what you need of them, and delete them.",
    CheckedPart.EMBEDDING_MODEL: "Choose another with 'daybook model use'.",
    CheckedPart.ROUND_TRIP: "Run 'daybook maintain all', then try again.",
    CheckedPart.HOOKS: "Reinstall the plugin.",
    CheckedPart.SERVER: "Reinstall the plugin.",
    CheckedPart.CAPTURE: "Run 'daybook work' and read logs/worker.log.",
    CheckedPart.LANGUAGE_MODEL: "Run 'daybook setup'.",
    CheckedPart.REMOTE: "'daybook remote sync' tries again now.",
}
"""Part → what helps when it does not work; the others always work."""
ROOM_FOR_TEMPORARY = "Make room for temporary files, or name another folder for them in TMPDIR."
CORRECT_SETTINGS = "Correct the file; the next session loads Daybook again."

FINDINGS = {
    Finding.NO_EDITS_CAUGHT: "no file was saved during a change",
    Finding.EMBEDDING_OFF: "switched off; recall searches by words only",
    Finding.EMBEDDING_NOT_LOADED: "the model did not load",
    Finding.ROUND_TRIP: "remembered, found and forgotten",
    Finding.NOT_FOUND_BY_WORDS: "the probe was not found by words",
    Finding.NOT_FOUND_BY_MEANING: "the probe was not found by meaning",
    Finding.FOUND_AFTER_FORGET: "the probe was found after it was forgotten",
    Finding.SERVER_ANSWERS: "a new one answers a question",
    Finding.CAPTURE_OFF: "switched off",
    Finding.CALLS_OFF: "not allowed: nothing is sent, nothing is spent",
    Finding.NO_KEY: "it is allowed, but there is no API key",
}


def checked(check: Check) -> Shown:
    """Return whether a part works, and the advice when it does not."""
    seen, advice = _seen(check.seen), _advice(check)
    return Shown(
        f"{'ok  ' if check.well else 'FAIL'}  {check.part}: {seen}",
        notes=(f"      {advice}",) if advice and not check.well else (),
        json={"name": check.part.value, "well": check.well, "seen": seen, "advice": advice},
    )


def _advice(check: Check) -> str:
    match check.seen:
        case DaybookError(hint=hint) if hint:
            return hint
        case OSError() if check.part is CheckedPart.ROUND_TRIP:
            return ROOM_FOR_TEMPORARY
        case ClaudeSettings() | SwitchedOff():
            return CORRECT_SETTINGS
        case _:
            return ADVICE.get(check.part, "")


def _seen(seen: Seen) -> str:
    """Return in a few words what a check saw."""
    match seen:
        case Finding():
            return FINDINGS[seen]
        case OSError():
            place = f" ({seen.filename})" if isinstance(seen.filename, str) else ""
            return f"{seen.strerror or seen}{place}"
        case StoreFolder():
            return _store_folder(seen)
        case Memories(number):
            return counted(number, "memory")
        case NotTakenIn(number):
            return f"not taken in: {counted(number, 'file')}"
        case CaughtEdits(paths):
            return trouble.caught(paths)
        case OpenedModel(name, sends_to):
            return f"{name}; texts are sent to {sends_to}" if sends_to else name
        case Plugin(folder):
            return f"{folder}, and a new session's hook answers"
        case Missing(path):
            return f"{path} is missing"
        case NotExecutable(path):
            return f"{path} is not executable"
        case ClaudeSettings(path, line, column, reason):
            place = f", line {line}, column {column}" if line else ""
            return f"Claude Code loads no plugin, for it cannot read its settings: {path}{place}: {reason}"
        case SwitchedOff(path, how):
            return f"Claude Code does not run it: in {path}, {how}"
        case HookFails(how):
            return f"the hook of a new session {how}"
        case ServerFails(how):
            return f"a new one {how}"
        case ModuleSeen(version, missing):
            return _module(version, missing)
        case Toolsets(on, off):
            switched_off = (
                f"; off: {' '.join(off)}, switched on by naming the sets in DAYBOOK_TOOLSETS" if off else ""
            )
            return f"{' '.join(on)}{switched_off}"
        case Captures(mode, last, is_any_open):
            return captured(mode, f"{moment(last)} UTC" if last else "", is_any_open=is_any_open)
        case CapturedLate(sessions):
            return f"not kept an hour after the end: {counted(sessions, 'session')}"
        case PlanCalls(made, most):
            return f"on your plan; {made} of {counted(most, 'call')} made today"
        case AllowedModel(name, spent, daily_usd):
            return f"{name} is allowed; {today(spent)} of ${daily_usd:.2f} spent today"
        case LastExchange(url, at, why):
            return why or f"{url}, last exchange {minute(at) or 'none yet'}"
        case TeamSeen(name, member, role):
            return f"{name} answers, and knows you as {member} ({role})"
        case _:
            return str(seen)


def _store_folder(folder: StoreFolder) -> str:
    remarks = [
        f"readable by others: chmod 700 {shlex.quote(str(folder.path))}" if folder.open_to_others else "",
        f"inside the git repository {folder.repository}, which does not ignore it: name it in its .gitignore"
        if folder.repository
        else "",
    ]
    return " ".join([str(folder.path), *(f"({remark})" for remark in remarks if remark)])


def _module(version: str, missing: tuple[str, ...]) -> str:
    if not version:
        return "not seen yet; where Claude Code does not load it, hooks do its work"
    without = f", without {', '.join(missing)}, which that client lacks" if missing else ""
    return f"last seen in Claude Code {version}{without}"
