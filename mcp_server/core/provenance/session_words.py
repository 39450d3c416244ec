"""
The texts of a session, and who they are from: the person, Claude, the person's project, or others.

`core/sessions/transcript.py` keeps what is worth finding again. This module reads the results of tools, too,
only to look up where words occur; none of it is stored.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mcp_server.core.provenance.tool_calls import OUR_TOOL, UNCONFIRMED, Whose, whose
from mcp_server.core.sessions.transcript_line import (
    ECHOES,
    blocks_of,
    is_typed_by_person,
    is_unsaid,
    not_injected,
    texts_of,
)

MOST_CALLS = 4096  # calls that are remembered until their results come
LARGEST = 16 * 1024 * 1024  # bytes of a line that is read; a longer one counts as unread
_COMMAND_ARGUMENTS = ("<command-args>", "</command-args>")
_WRITES = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
_PRINTED = ("<bash-stdout>", "<bash-stderr>", "<local-command-stdout>", "<local-command-stderr>")
_OF_THE_PERSON = frozenset(("User", "Local", "Managed"))  # instruction files that no repository brings


class Voice(StrEnum):
    """Who speaks."""

    PERSON = "person"
    CLAUDE = "claude"
    PROJECT = "project"
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class SessionText:
    """
    One text: who said it, when (`2026-11-20T15:28:56.908Z`, '' when unknown), and a name for its place.

    `of_call` are the arguments that Claude gave to the tool that answered: those words are Claude's.
    """

    voice: Voice
    text: str
    time: str = ""
    place: str = ""
    of_call: str = ""


class Hearing:
    """
    Reads the lines of one transcript in their order; never raises, for any bytes.

    *own* tells whether a file is the project's own, given its path and the folder that a line was written in.
    `unread` says that a line could not be read; `calls` are the ids of the calls that were seen.
    """

    def __init__(
        self, own: Callable[[str, str], bool], *, accepted: bool, agents_read: bool, agent: bool = False
    ) -> None:
        self.unread = False
        self.calls: OrderedDict[str, tuple[str, Mapping[str, Any], str]] = OrderedDict()
        self._own = own
        self._accepted = accepted
        self._agents_read = agents_read
        self._agent = agent
        self._written: set[str] = set()

    def hear(self, lines: Iterable[bytes]) -> Iterator[SessionText]:
        """Yield the texts in *lines*."""
        for line in lines:
            if not line or len(line) > LARGEST:
                self.unread = True
            elif b'"user"' in line or b'"assistant"' in line or b'"attachment"' in line:
                yield from self._hear(line)

    def _hear(self, line: bytes) -> Iterator[SessionText]:
        try:
            data = json.loads(line.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            self.unread = True
            return
        if not isinstance(data, dict):
            return
        time = data["timestamp"] if isinstance(data.get("timestamp"), str) else ""
        folder = data["cwd"] if isinstance(data.get("cwd"), str) else ""
        message = data.get("message")
        match data.get("type"):
            case "user" if isinstance(message, dict):
                yield from self._user(data, blocks_of(message.get("content")), time, folder)
            case "assistant" if isinstance(message, dict):
                yield from self._assistant(blocks_of(message.get("content")), time, folder)
            case "attachment" if isinstance(data.get("attachment"), dict):
                yield from self._attachment(data["attachment"], time, folder)

    def _user(
        self, data: dict[str, Any], blocks: list[dict[str, Any]], time: str, folder: str
    ) -> Iterator[SessionText]:
        """Yield what a line of type user has: results of tools, and what the person or Claude typed."""
        for block in blocks:
            if block.get("type") == "tool_result":
                yield from self._result(block, data.get("toolUseResult"), time, folder)
        if is_unsaid(data) or not is_typed_by_person(data):
            return
        aside = self._agent or data.get("isSidechain") is True
        for text in texts_of(blocks):
            begin = text.lstrip()
            if begin.startswith(_PRINTED):
                yield SessionText(Voice.OTHERS, text, time, "a command that the person ran")
            elif aside:
                yield SessionText(Voice.CLAUDE, text, time)  # what Claude asks of an agent
            elif _COMMAND_ARGUMENTS[0] in text and begin.startswith(ECHOES):
                after = text.partition(_COMMAND_ARGUMENTS[0])[2]
                yield SessionText(Voice.PERSON, after.partition(_COMMAND_ARGUMENTS[1])[0], time)
            elif begin.startswith("<bash-input>") or not begin.startswith(ECHOES):
                yield SessionText(Voice.PERSON, not_injected(text), time)

    def _assistant(self, blocks: list[dict[str, Any]], time: str, folder: str) -> Iterator[SessionText]:
        for text in texts_of(blocks):
            yield SessionText(Voice.CLAUDE, text, time)
        for block in blocks:
            kind = str(block.get("type"))
            if kind == "tool_use":
                yield from self._call(block, time, folder)
            elif kind.endswith("_tool_result"):  # a tool that ran on the server, such as a search of the web
                yield SessionText(Voice.OTHERS, _strings(block.get("content")), time, "a web search")

    def _call(self, block: Mapping[str, Any], time: str, folder: str) -> Iterator[SessionText]:
        name, number = str(block.get("name")), block.get("id")
        arguments = block.get("input")
        arguments = arguments if isinstance(arguments, dict) else {}
        if isinstance(number, str):
            self.calls[number] = (name, arguments, folder)
            while len(self.calls) > MOST_CALLS:
                self.calls.popitem(last=False)
        if name in _WRITES:
            self._written.add(str(arguments.get("file_path") or arguments.get("notebook_path")))
        if not OUR_TOOL.fullmatch(name):  # the text to store is the one that is looked up
            yield SessionText(Voice.CLAUDE, _strings(arguments), time)

    def _result(
        self, block: Mapping[str, Any], structured: object, time: str, folder: str
    ) -> Iterator[SessionText]:
        """Yield the texts of a tool's result; *structured* is what the client noted of it besides."""
        name, arguments, called_in = self.calls.get(str(block.get("tool_use_id")), ("", {}, folder))
        text = _strings(block.get("content"))
        if name == "AskUserQuestion":
            answers = structured.get("answers") if isinstance(structured, dict) else None
            choices = list(answers.values()) if isinstance(answers, dict) else []
            yield SessionText(Voice.PERSON, _strings(choices), time)
            return

        def own(path: str) -> bool:
            return self._own(path, called_in)

        owner, place = whose(name, arguments, own=own, agents_read=self._agents_read)
        of_call = _strings(arguments)
        if owner is Whose.NOBODYS:
            if place and UNCONFIRMED in text:
                yield SessionText(Voice.OTHERS, text, time, place, of_call)
            return
        if owner is not Whose.OTHERS and not self._accepted:
            place = f"{place} of this repository, which is not accepted,"
            yield SessionText(Voice.OTHERS, text, time, place, of_call)
        elif owner is Whose.LINES:
            lines: dict[Voice, list[str]] = {Voice.PROJECT: [], Voice.OTHERS: []}
            for line in text.split("\n"):
                lines[Voice.PROJECT if own(line.split(":", 1)[0]) else Voice.OTHERS].append(line)
            for voice, lines_of_voice in lines.items():
                yield SessionText(voice, "\n".join(lines_of_voice), time, place, of_call)
        elif owner is Whose.PROJECTS and str(arguments.get("file_path") or "") in self._written:
            yield SessionText(Voice.CLAUDE, text, time)  # the file may say what Claude put there
        else:
            yield SessionText(
                Voice.PROJECT if owner is Whose.PROJECTS else Voice.OTHERS, text, time, place, of_call
            )

    def _attachment(self, attachment: Mapping[str, Any], time: str, folder: str) -> Iterator[SessionText]:
        kind = str(attachment.get("type"))
        if kind == "queued_command":
            prompt = attachment.get("prompt")
            words = prompt if isinstance(prompt, str) else "\n".join(texts_of(blocks_of(prompt)))
            if attachment.get("commandMode", "prompt") == "prompt" and not words.lstrip().startswith(ECHOES):
                yield SessionText(Voice.PERSON, not_injected(words), time)
        elif kind.startswith("mcp_resource"):
            yield SessionText(Voice.OTHERS, _strings(attachment.get("content")), time, "an MCP resource")
        elif kind in ("instructions", "nested_memory"):
            files = attachment.get("files")
            for file in files if isinstance(files, list) else [attachment.get("content")]:
                if isinstance(file, dict):
                    yield self._file(str(file.get("path")), file, time, folder)
        elif isinstance(path := attachment.get("filename", attachment.get("path")), str):
            yield self._file(path, attachment, time, folder)

    def _file(self, path: str, attachment: Mapping[str, Any], time: str, folder: str) -> SessionText:
        text = _strings(attachment.get("content", attachment.get("snippet")))
        trusted = attachment.get("type") in _OF_THE_PERSON or (self._accepted and self._own(path, folder))
        return SessionText(Voice.PROJECT if trusted else Voice.OTHERS, text, time, f"the file {path}")


def _strings(value: object, depth: int = 0) -> str:
    """Return every text in *value*, the data of images left out, each on lines of its own."""
    if isinstance(value, str):
        return value
    if depth > 8:
        return ""
    if isinstance(value, dict):
        if value.get("type") in ("image", "base64"):
            return ""
        return "\n".join(filter(None, (_strings(part, depth + 1) for part in value.values())))
    if isinstance(value, list):
        return "\n".join(filter(None, (_strings(part, depth + 1) for part in value)))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
