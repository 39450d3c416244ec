"""Links between memories, and the `[[wiki links]]` in their texts."""

import re
import unicodedata

from mcp_server.core import fences
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import ID, Link, Memory

RELATES_TO = "relates-to"
SUPERSEDES = "supersedes"
CONTRADICTS = "contradicts"
RESERVED = (SUPERSEDES, CONTRADICTS, "depends-on", "refines", "elaborates", RELATES_TO)
"""Labels that say the same to everybody; the first two have effects. Any other may be used as well."""

MAX_REL = 40  # characters of a label

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
    declared = [*memory.links, *(Link(SUPERSEDES, old) for old in memory.supersedes)]
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
    return Link(check_rel(rel), target.strip())


def check_rel(said: str) -> str:
    """
    Return a link's label in kebab case, so that `relates_to` and "Relates to" are one; '' is relates-to.

    Raises Rejected when no letter is left or it is longer than 40 characters.
    """
    rel = re.sub(r"[^a-z0-9]+", "-", said.lower()).strip("-")
    if (said.strip() and not rel) or len(rel) > MAX_REL:
        raise Rejected(
            f"'{said.strip()[:60]}' cannot label a link.",
            f"Use a few words with hyphens, such as {', '.join(RESERVED)}.",
        )
    return rel or RELATES_TO
