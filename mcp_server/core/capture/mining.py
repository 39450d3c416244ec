"""
Candidates found in a conversation by patterns alone, for people who let no model read their sessions.

The patterns read what the person said, commands that ran, and output. They do not read what Claude or an
agent says: these repeat what they read.

A pattern has a type and a confidence. The same finding in several sessions says more than any pattern.
What the person settles need not be seen again: patterns (`corrections`) tell it, and a judge who knows what
sentences mean. docs/capture.md lists what is found.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mcp_server.core.capture.corrections import (
    LEAST,
    Correction,
    correction,
    is_doubtful,
    only_denies,
    what_it_corrects,
)
from mcp_server.core.digests import text_digest
from mcp_server.core.memory_types import by_rank
from mcp_server.core.text.own_words import own_words
from mcp_server.core.text.text_relation import tokens
from mcp_server.core.text.titles import MOST_MADE, clipped, title_of

STORED_CONFIDENCE = 0.8  # B-39 in docs/features.md: a candidate with this confidence,
STORED_TIMES = 3  # seen this often,
STORED_SESSIONS = 2  # in this many sessions, is stored without asking the person
JUDGED_CONFIDENCE = 0.7  # of what the judge finds: it is never stored without asking
EXPIRES_AFTER = 30.0  # days without another sighting
MOST = 6  # candidates of one chunk: those with the highest confidence
SHORTEST, LONGEST = 20, 300  # characters of a sentence; a code block may have 2,000
CODE = 2000

Judge = Callable[[Sequence[str]], Sequence[str]]
"""Returns for each sentence of a person the type of what it settles for good, '' for nothing."""


@dataclass(frozen=True, slots=True)
class Mined:
    """A memory proposed by a pattern, with its confidence from 0 to 1."""

    type: str
    title: str
    text: str
    confidence: float
    from_person: bool
    times: int = 1
    """In how many turns it was found."""
    settles: bool = False
    """Whether the person settled something with this sentence."""
    corrects: str = ""
    """The line that Claude had said or run, if the person corrected it."""

    @property
    def key(self) -> str:
        """16 hexadecimal digits, equal for the same words in another order, case or punctuation."""
        return text_digest(" ".join([self.type, *sorted(tokens(self.text))]), size=8)


# The first pattern that matches a sentence gives its type.
_SENTENCES = [(row, re.compile(row.sentences, re.IGNORECASE)) for row in by_rank() if row.sentences]
_PROGRAMS = "npm|npx|yarn|pnpm|bun|uv|pip|python3?|pytest|node|git|docker|make|cargo|go|just|tox|ruff|mypy"
_COMMAND = re.compile(rf"\[Bash\]: (?P<command>(?:{_PROGRAMS})\b[^\n]{{3,160}})$")
_TYPED = re.compile(rf"^[ \t]*\$ +(?P<command>(?:{_PROGRAMS})\b[^\n]{{3,160}})$", re.MULTILINE)
_SHELL = re.compile(
    r"^```(?:bash|sh|shell|zsh|console)[ \t]*\n(?P<code>.*?)^```\s*$", re.DOTALL | re.MULTILINE
)
_LINE = re.compile(rf"^[ \t]*(?P<command>(?:{_PROGRAMS})\b[^\n]{{3,160}})$", re.MULTILINE)
_INSTALLS = re.compile(
    r"^(?:npm (?:i|install)|(?:yarn|pnpm|bun|uv|cargo) add|pip install|go get)\s+(?!-r\b)[\w@]"
)
_PLAIN_GIT = re.compile(r"^git (?:status|diff|log|add|commit|show|push|pull|fetch|checkout|branch|stash)\b")
_IMPORT = re.compile(
    r"^[ \t]*(?:from ([\w.]+) import [\w, *()]+|import ([\w.]+)(?: as \w+)?)[ \t]*$", re.MULTILINE
)
_FENCE = re.compile(r"^```[^\n`]*\n(?P<code>.*?)^```\s*$", re.DOTALL | re.MULTILINE)
_FENCE_END = re.compile(r"^```[ \t]*$", re.MULTILINE)
_QUESTION = re.compile(r"\?\s*$")
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|might|could we|should we|what if|i think we could|let me|i'?ll|i will|not sure)\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(r"^[ \t]*(?:def|class|function|async def|fn|func|interface|type)\b", re.MULTILINE)


def mine(
    turns: Iterable[tuple[str, str]], *, before: Sequence[str] = (), judge: Judge | None = None
) -> list[Mined]:
    """
    Return what the patterns and *judge* find in *turns*, pairs of (speaker, words), at most six, the best
    first.

    *before* is what Claude had said and run before the first turn: that turn may correct it.

    The speaker is `user`, `tool` for a command that ran, or `output` for what a program printed; other
    speakers, such as `claude` and `agent`, are ignored. Questions and plans are left out.
    """
    by_key: dict[str, Mined] = {}
    for speaker, words in turns:
        for key, mined in {mined.key: mined for mined in _mine(speaker, words, before, judge)}.items():
            earlier = by_key.get(key, replace(mined, times=0))
            best = mined if mined.confidence > earlier.confidence else earlier
            by_key[key] = replace(best, times=earlier.times + 1)
        before = () if speaker == "user" else (*before, words)
    return sorted(by_key.values(), key=lambda mined: (-mined.confidence, mined.key))[:MOST]


def is_stored(confidence: float, times: Sequence[int]) -> bool:
    """Tell whether a candidate seen *times* often in each of its sessions is stored without asking."""
    return confidence >= STORED_CONFIDENCE and sum(times) >= STORED_TIMES and len(times) >= STORED_SESSIONS


def _mine(speaker: str, words: str, before: Sequence[str], judge: Judge | None) -> Iterable[Mined]:
    """Yield what the patterns and *judge* find in one turn; *before* is what Claude said last."""
    if speaker == "tool":
        yield from _commands(words)
    if speaker not in ("user", "output"):
        return
    person = speaker == "user"
    yield from _code(words, person)
    yield from _typed(words)
    closed, rest = _closed(own_words(words) if person else words)
    parts = sentences(_FENCE.sub("\n", closed) + rest)
    settles = _settled(parts) if person else {}
    types = _judged([part for part, settled in settles.items() if not settled], judge) if judge else {}
    for sentence in parts:
        if settled := settles.get(sentence):
            corrects = what_it_corrects(before, sentence) if settled.corrects else ""
            title = title_of(sentence)
            yield Mined(
                settled.type, title, sentence, STORED_CONFIDENCE, person, settles=True, corrects=corrects
            )
            continue
        if type := types.get(sentence):
            yield Mined(type, title_of(sentence), sentence, JUDGED_CONFIDENCE, from_person=True, settles=True)
            continue
        if not SHORTEST <= len(sentence) <= LONGEST or _QUESTION.search(sentence) or _UNSURE.search(sentence):
            continue
        for row, expression in _SENTENCES:
            if (person or not row.person_only) and expression.search(sentence):
                yield Mined(row.name, title_of(sentence), sentence, row.confidence, person)
                break


def _settled(parts: Sequence[str]) -> dict[str, Correction | None]:
    """Return sentence → what it settles; a sentence that only denies ("No.") belongs to the next one."""
    pairs = [(before, part) for before, part in pairwise(["", *parts]) if len(part) <= LONGEST]
    return {part: correction(f"{before} {part}" if only_denies(before) else part) for before, part in pairs}


def _judged(parts: Sequence[str], judge: Judge) -> dict[str, str]:
    """Return sentence → the type of what it settles, for those of *parts* in which *judge* sees something."""
    asked = [part for part in parts if len(part) >= LEAST and not is_doubtful(part)]
    return {part: type for part, type in zip(asked, judge(asked), strict=True) if type}


def _commands(words: str) -> Iterable[Mined]:
    """Yield the command in a turn of a tool (`[Bash]: pytest`), unless it failed."""
    match = _COMMAND.search(words)
    if not match:
        return
    command = match["command"].strip()
    if not command.endswith("-> failed"):  # a command that failed is no recipe
        yield from _recipe(command)


def _typed(words: str) -> Iterable[Mined]:
    """Yield the commands after a shell prompt (`$`) and in shell code blocks, each once."""
    commands = [match["command"] for match in _TYPED.finditer(words)]
    commands += [
        line["command"]
        for block in _SHELL.finditer(_closed(words)[0])
        for line in _LINE.finditer(block["code"])
    ]
    for command in dict.fromkeys(command.strip() for command in commands):
        yield from _recipe(command)


def _recipe(command: str) -> Iterable[Mined]:
    """Yield *command* as a dependency that it installs, or as a command of this project."""
    if _PLAIN_GIT.match(command):
        return
    if _INSTALLS.match(command):
        name, sentence, confidence = "Dependency", f"Dependency installed with `{command}`.", 0.85
    else:
        name, sentence, confidence = "Command", f"Command used here: `{command}`.", 0.5
    title = clipped(f"{name}: {command}", MOST_MADE)
    yield Mined("reference", title, sentence, confidence, from_person=False)


def _code(words: str, person: bool) -> Iterable[Mined]:
    """Yield what the code blocks in *words* import, and the short ones themselves."""
    for name in dict.fromkeys(a or b for a, b in _IMPORT.findall(words)):
        yield Mined("reference", f"Imports {name}", f"Code here imports `{name}`.", 0.5, person)
    for block in _FENCE.finditer(_closed(words)[0]):
        code = block["code"].strip("\n")
        if SHORTEST <= len(code) <= CODE and "\n" in code:
            first = next(line for line in code.split("\n") if line.strip()).strip()
            confidence = 0.7 if _DEFINES.search(code) else 0.5
            yield Mined(
                "reference", clipped(f"Code: {first}", MOST_MADE), f"```\n{code}\n```", confidence, person
            )


# Many people type prompts without capitals: there a full stop ends a sentence unless it ends an abbreviation.
_BREAK = re.compile(
    r"(?<=[.!?])\s+(?=[A-ZÀ-ÞА-Я\"'`(])|(?<=[!?])\s+|(?<=[^\s.]{2}[.])"
    r"(?<!\betc\.)(?<!\bvs\.)(?<!\bca\.)(?<!\bex\.)(?<!\bbzw\.)(?<!\bincl\.)\s+|(?<=[。！？])|\n+"
)
_MARK = re.compile(r"^[\s>*#•–-]+|^\d+[.)]\s+")


def sentences(text: str) -> list[str]:
    """Return the sentences of *text* without list marks and blanks around them."""
    return [" ".join(_MARK.sub("", part).split()) for part in _BREAK.split(text) if part.strip()]


def _closed(words: str) -> tuple[str, str]:
    """
    Return *words* up to the last fence that may close a code block, and the rest.

    Searching the rest for an end, again from each opening fence, would take time by the square of its length.
    """
    end = max((fence.end() for fence in _FENCE_END.finditer(words)), default=0)
    return words[:end], words[end:]
