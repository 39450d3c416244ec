"""A key of a memory's file that holds a few short texts: how they are cleaned, limited and joined."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple, TypeVar

from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import as_one_text, parted, split_list, without_controls

T = TypeVar("T")


class ListKey(NamedTuple):
    """One such key; `memory.LISTS` has a row for each."""

    name: str
    clean: Callable[[str], str]  # what is kept of a text, '' of one that says nothing
    most: int  # texts of one memory
    several: str  # what people call some of them
    fewer: str  # the hint when more than `most` were given
    help: str  # of the option on the command line
    new_help: str  # of the option that changes them
    field: str  # what a form asks for
    proposed: int = 0  # texts that are taken of a model's; 0: it is not asked for any
    asked: str = ""  # what a team's server asks a model for
    phrases: bool = False  # each text is several words, and has a line of its own in a file and a form
    longest: int = 0  # characters of a text, 0 for any
    too_long: tuple[str, str] = ("", "")

    @property
    def label(self) -> str:
        """What people read instead of the name in the file."""
        return self.name.replace("_", " ")

    @property
    def option(self) -> str:
        """How the command line calls it."""
        return f"--{self.name.replace('_', '-')}"

    def texts_in(self, value: str | Sequence[str]) -> tuple[str, ...]:
        """Return the texts of a list, or those of one text, with commas or, between phrases, semicolons."""
        return parted(value) if self.phrases else split_list(value)

    def as_text(self, texts: Sequence[str]) -> str:
        """Return the text in which `texts_in` finds *texts* again."""
        return as_one_text(texts) if self.phrases else ", ".join(texts)

    def cleaned(self, texts: Iterable[str], had: Sequence[str] = ()) -> tuple[str, ...]:
        """
        Return *texts* cleaned, each once, in order.

        Raises Rejected for too many or too long ones, but not for those that a file *had*: hands and two
        machines write more into it.
        """
        once = self.once(texts)
        if len(once) > max(self.most, len(had)):
            where = "" if self.name == self.several else f" in {self.name}"
            given = f"{len(once)} {self.several} were given{where}"
            raise Rejected(f"{given}; {self.most} is the limit.", self.fewer)
        if too_long := [text for text in once if not self.fits(text) and text not in had]:
            kind, hint = self.too_long
            raise Rejected(f"{kind} has {len(too_long[0])} characters; {self.longest} is the limit.", hint)
        return once

    def first(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the first of *texts* cleaned, as many as may be given, without those that are too long."""
        return tuple(filter(self.fits, self.once(texts)))[: self.most]

    def joined(self, lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
        """
        Return what one memory has of the *lists* of several; of phrases, which are few, some of each.

        They are as many as may be given, or as the longest list has, which a hand wrote.
        """
        whole = list(lists)
        in_order = chain.from_iterable(zip_longest(*whole, fillvalue="") if self.phrases else whole)
        return tuple(dict.fromkeys(filter(None, in_order)))[: max((self.most, *map(len, whole)))]

    def once(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return *texts* cleaned, each once, in order, as many and as long as they are."""
        return tuple(dict.fromkeys(filter(None, map(self.clean, texts))))

    def fits(self, text: str) -> bool:
        """Tell whether *text* is no longer than one may be."""
        return not self.longest or len(text) <= self.longest


def extended(own: Sequence[T], new: Iterable[T], most: int) -> tuple[T, ...]:
    """Return *own* and then *new*, each value once, at most *most* of them unless *own* has more."""
    return tuple(dict.fromkeys((*own, *new)))[: max(most, len(own))]


def as_phrase(text: str) -> str:
    """Return *text* on one line."""
    return " ".join(without_controls(text).split())


def as_tag(text: str) -> str:
    """Return *text* in lower case, with hyphens for blanks; signs stay at its end: `c++` is not `c`."""
    cleaned = unicodedata.normalize("NFC", text).strip().lstrip("#").lower()
    return re.sub(r"(?:(?<![\w+])[+#]|[^\w./+#-])+", _between_words, cleaned).strip("-")


def _between_words(run: re.Match[str]) -> str:
    """Return *run* with separators as one hyphen; accents and vowel signs, parts of letters, stay."""
    joined = "".join(c if unicodedata.category(c).startswith("M") else " " for c in run[0])
    return re.sub(" +", "-", joined)
