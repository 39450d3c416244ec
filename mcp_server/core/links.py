"""Links between memories, and the `[[wiki links]]` in their texts."""

import re
import unicodedata
from collections.abc import Iterable

from mcp_server.core import fences
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import ID, Link, Memory

RELATES_TO = "relates-to"
SUPERSEDES = "supersedes"
CONTRADICTS = "contradicts"
RESERVED = (SUPERSEDES, CONTRADICTS, "depends-on", "refines", "elaborates", RELATES_TO)
"""Labels that say the same to everybody; the first two have effects. Any other may be used as well."""

MAX_LABEL = 60  # characters

_WIKI = re.compile(r"\[\[([^\[\]\n|]{1,200})(?:\|[^\[\]\n]{0,200})?\]\]")
_INLINE = re.compile(r"`[^`\n]*`")


def wiki_links(text: str) -> list[str]:
    """Return the targets of `[[id]]` and `[[Title]]` in *text*, each once, outside code."""
    return list(dict.fromkeys(target.strip() for target in _WIKI.findall(outside_code(text))))


def outside_code(text: str) -> str:
    """
    Return *text* without code, between fences or in line; a fence that nothing closes is text.

    Line by line: one expression for it takes time by the square of the length, and files come from anybody.
    """
    kept: list[str] = []
    fence, opened = "", 0
    for line in text.split("\n"):
        if fence and fences.closes(line, fence):
            kept[opened:] = [""]
            fence = ""
            continue
        if not fence and (fence := fences.opens(line)):
            opened = len(kept)
        kept.append(line)
    return _INLINE.sub("", "\n".join(kept))


def all_links(memory: Memory) -> list[Link]:
    """Return the links of *memory*: those it declares, what it supersedes, and its wiki links."""
    said = [Link(as_label(link.rel), link.to, link.notes) for link in memory.links]
    declared = [*said, *(Link(SUPERSEDES, old) for old in memory.supersedes)]
    linked = {link.to for link in declared}
    wiki = [Link(RELATES_TO, target) for target in wiki_links(memory.text) if target not in linked]
    return list(dict.fromkeys([*declared, *wiki]))


def as_name(said: str) -> str:
    """Return a link's target, or what a memory is called, as the two are compared: in whatever case."""
    return unicodedata.normalize("NFC", said).strip().lower()  # macOS takes the accents of file names apart


def names(memory: Memory) -> frozenset[str]:
    """Return what links may call *memory*: its id, its title and its aliases."""
    return frozenset(filter(None, map(as_name, (memory.id, memory.title, *memory.aliases))))


def is_artifact(target: str) -> bool:
    """Tell whether a link's target is a file (`path[:line]`) rather than a memory's id."""
    return not ID.fullmatch(target) and bool(re.search(r"[/.]", target)) and " " not in target


def parse_link(said: str) -> Link:
    """Return the link that "rel: target" says; a target alone is related to. Raises Rejected for neither."""
    rel, colon, target = f"{said.strip()} ".partition(": ")
    if not colon:
        rel, target = "", said
    if not target.strip():
        raise Rejected(f"'{said.strip()[:60]}' names nothing to link to.", "Give an id or a path.")
    return Link(check_label(rel.strip() or RELATES_TO), target.strip())


def check_label(words: str) -> str:
    """
    Return the label of a link that *words* say, so that `relates_to` and "Relates to" are one.

    Raises Rejected when there is no letter or digit in them, or more than 60 characters.
    """
    label = _kebab(words)
    if not label or len(label) > MAX_LABEL:
        raise Rejected(
            f"'{words.strip()[:80]}' cannot label a link.",
            f"Use a few words with hyphens, such as {', '.join(RESERVED)}.",
        )
    return label


def as_label(words: str) -> str:
    """Return a label that somebody else wrote, as labels are compared; one without a letter as it stands."""
    return _kebab(words)[:MAX_LABEL].strip("-") or words.strip()


def labelled(links: Iterable[Link], words: str) -> list[Link]:
    """
    Return those of *links* whose label *words* name, whoever wrote it and however.

    Earlier versions took vowel signs, or all that is not ASCII, for blanks: a label that they wrote is
    meant when no other is.
    """
    label = as_label(words)
    held = list(links)
    former = {"-".join(re.findall(letters, label)) for letters in (r"[^\W_]+", "[a-z0-9]+")}
    meant = [link for link in held if as_label(link.rel) == label]
    return meant or [link for link in held if link.rel in former.difference(RESERVED)]


def _kebab(words: str) -> str:
    plain = unicodedata.normalize("NFKC", words).lower()
    kept = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in plain)
    return "-".join(word for word in kept.split() if any(map(str.isalnum, word)))
