"""
Where the words of a memory occur in the session in which Claude stored it, and whether it waits.

A memory waits for the person when one of its telling words occurs only in the words of others, or when it
reads like an instruction and no turn of the person has it. docs/privacy.md states the rule for people.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.provenance.provenance import SAID
from mcp_server.core.provenance.session_words import SessionText, Voice
from mcp_server.core.provenance.telling_words import TellingWord, Text, telling_words
from mcp_server.core.render import one_line
from mcp_server.core.text.words import STOP_WORDS, words

LONGEST_KEPT = 60  # characters of the decisive word that a reason keeps
_LATE = "~"  # sorts after every time


class OriginDoubt(StrEnum):
    """Why it is doubted that a memory's words are the person's or Claude's own."""

    INSTRUCTS = "instructs"
    NO_TRANSCRIPT = "no transcript"
    UNREAD = "not all was read"
    SAID_BY_OTHERS = "said by others"
    NAMED_BY_OTHERS = "named by others"
    NAMED_AFTER_OTHERS = "named after others"
    NOT_JUDGED = "not judged yet"
    FROM_REPOSITORY = "from the repository"
    CHANGED = "changed"
    PRINTED = "printed"
    IN_DOCUMENT = "in a document"


class OriginReason(NamedTuple):
    """
    Why a memory waits for the person, as values of which doors make the end of a sentence.

    `doubt` is an OriginDoubt; where an earlier version wrote the event, it is the whole end of the sentence.
    `word` is the word that decided, `place` names where others had it, or what of theirs was read before it.
    """

    doubt: str
    word: str = ""
    place: str = ""


@dataclass(slots=True)
class _Where:
    """Where one word occurs: whose it is for sure, and when Claude and when others first had it."""

    settled: bool = False
    claude: str = _LATE
    others: str = _LATE
    place: str = ""


@dataclass(slots=True)
class Inquiry:
    """Looks up the words of one memory in all texts of a session; `verdict` gives the result at the end."""

    text: str
    telling_words: list[TellingWord] = field(init=False)
    _where: list[_Where] = field(init=False)
    _content: frozenset[str] = field(init=False)
    _by_person: bool = False
    _outside: str = ""

    def __post_init__(self) -> None:
        self.telling_words = telling_words(self.text)
        self._where = [_Where() for _ in self.telling_words]
        self._content = frozenset(word for word in words(self.text) if word not in STOP_WORDS)

    def hear(self, utterance: SessionText) -> None:
        """Take in one text of the session, in any order."""
        if not utterance.text.strip():
            return
        text = Text(utterance.text)
        call_text = Text(utterance.of_call) if utterance.of_call else None
        if utterance.voice is Voice.OTHERS:
            self._outside = self._outside or utterance.place
        if utterance.voice is Voice.PERSON and not self._by_person:
            self._by_person = self._holds(utterance.text, text)
        for word, where in zip(self.telling_words, self._where, strict=True):
            if where.settled or not word.stands_in(text):
                continue
            match utterance.voice:
                case Voice.PERSON:
                    where.settled = True
                case Voice.PROJECT:
                    where.settled = call_text is None or not word.stands_in(call_text)
                case Voice.CLAUDE:
                    where.claude = min(where.claude, utterance.time or _LATE)
                case Voice.OTHERS if utterance.time < where.others:
                    where.others, where.place = utterance.time, utterance.place

    def _holds(self, turn: str, text: Text) -> bool:
        """Tell whether *turn*, one of the person's, says most of the memory."""
        share = len(self._content.intersection(words(turn))) / max(1, len(self._content))
        plain = [word for word in self.telling_words if not word.run]
        stand = sum(word.stands_in(text) for word in plain) / max(1, len(plain))
        return min(1.0, max(share, stand)) >= SAID

    def verdict(self, *, unread: bool, orders_wait: bool) -> OriginReason | None:
        """
        Return why the memory waits, None when it may be shown unasked.

        *unread*: a part of the session could not be read, so a word not found may be there.
        *orders_wait*: a memory that reads like an instruction waits even if a turn of the person has it.
        """
        if reads_like_instruction(self.text) and (orders_wait or not self._by_person):
            return OriginReason(OriginDoubt.INSTRUCTS)
        nowhere = False
        for word, where in zip(self.telling_words, self._where, strict=True):
            if where.settled or where.claude < where.others:
                continue
            if where.others != _LATE:
                doubt = OriginDoubt.SAID_BY_OTHERS if word.run else OriginDoubt.NAMED_BY_OTHERS
                return OriginReason(doubt, one_line(word.word, LONGEST_KEPT), where.place)
            if word.named and self._outside:
                name = one_line(word.word, LONGEST_KEPT)
                return OriginReason(OriginDoubt.NAMED_AFTER_OTHERS, name, self._outside)
            nowhere = nowhere or not word.run
        return OriginReason(OriginDoubt.UNREAD) if nowhere and unread else None
