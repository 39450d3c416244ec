"""Links between memories, and the `[[wiki links]]` in their texts."""

import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mcp_server.core.errors import Rejected
from mcp_server.core.markdown import outside_code
from mcp_server.core.memory_parts import ID

if TYPE_CHECKING:
    from mcp_server.core.memory import Link, Memory

RELATES_TO = "relates-to"
SUPERSEDES = "supersedes"
CONTRADICTS = "contradicts"
RESERVED = (SUPERSEDES, CONTRADICTS, "depends-on", "refines", "elaborates", RELATES_TO)
"""Labels with a fixed meaning; the first two have effects. Any other label may be used as well."""

MAX_LABEL = 60  # characters

WIKI = re.compile(
    r"""\[\[ (?P<target>[^\[\]\n|]{1,200}?)
    (?:\#(?=[^\W\d]|\^)[^\[\]\n|]{1,200}?)?  # a heading or a block of the note; not what follows in "PR#12"
    (?:\\?\|(?P<words>[^\[\]\n]{0,200}))? \]\]  # the backslash stands before it in a table""",
    re.VERBOSE,
)


def wiki_links(text: str) -> list[str]:
    """Return the targets of `[[id]]` and `[[Title]]` in *text*, each once, outside code."""
    if "[" not in text:
        return []  # as most, which need not be read line by line
    return list(dict.fromkeys(match["target"].strip() for match in WIKI.finditer(outside_code(text))))


def all_links(memory: "Memory") -> "list[Link]":
    """Return the links of *memory*: those it declares, what it supersedes, and its wiki links."""
    from mcp_server.core.memory import Link  # slow to load, and hooks make no links

    links = [Link(as_label(link.rel), link.to, link.notes) for link in memory.links]
    declared = [*links, *(Link(SUPERSEDES, old) for old in memory.supersedes)]
    linked = {link.to for link in declared}
    wiki = [Link(RELATES_TO, target) for target in wiki_links(memory.text) if target not in linked]
    return list(dict.fromkeys([*declared, *wiki]))


def as_name(text: str) -> str:
    """Return a link's target or a name of a memory in the form in which they are compared: lower case."""
    return unicodedata.normalize("NFC", text).strip().lower()  # macOS decomposes accents in file names


def names(memory: "Memory") -> frozenset[str]:
    """Return the names that links may use for *memory*: its id, its title and its aliases."""
    return frozenset(filter(None, map(as_name, (memory.id, memory.title, *memory.aliases))))


def is_artifact(target: str) -> bool:
    """Tell whether a link's target is a file (`path[:line]`) rather than a memory's id."""
    return not ID.fullmatch(target) and bool(re.search(r"[/.]", target)) and " " not in target


def parse_link(text: str) -> "Link":
    """
    Return the link that "rel: target" says, `relates-to` without "rel: ".

    Its label is as it was written, so that a secret in it is found; `with_labels` makes a label of it.
    Raises Rejected for no target, and for what cannot be a label.
    """
    from mcp_server.core.memory import Link  # slow to load, and hooks make no links

    rel, colon, target = f"{text.strip()} ".partition(": ")
    if not colon:
        rel, target = "", text
    if not target.strip():
        raise Rejected(f"'{text.strip()[:60]}' is nothing to link to.", "Give an id or a path.")
    rel = rel.strip() or RELATES_TO
    check_label(rel)
    return Link(rel, target.strip())


def with_labels(links: "Iterable[Link]") -> "tuple[Link, ...]":
    """Return *links* with their labels in the form in which labels are compared, each link once."""
    from mcp_server.core.memory import Link  # slow to load, and hooks make no links

    return tuple(dict.fromkeys(Link(as_label(link.rel), link.to, link.notes) for link in links))


def without_successions(links: "Iterable[Link]") -> "tuple[tuple[Link, ...], tuple[str, ...]]":
    """Return those of *links* that are not labelled supersedes, and the targets of those that are."""
    link_list = list(links)
    succeeding = [link for link in link_list if as_label(link.rel) == SUPERSEDES]
    others = tuple(link for link in link_list if link not in succeeding)
    return others, tuple(link.to for link in succeeding)


def check_label(words: str) -> str:
    """
    Return the link label for *words* in kebab case, so that `relates_to` and "Relates to" are the same.

    Raises Rejected when *words* have no letter or digit, or the label more than 60 characters.
    """
    label = _kebab(words)
    if not label or len(label) > MAX_LABEL:
        raise Rejected(
            f"'{words.strip()[:80]}' cannot label a link.",
            f"Use a few words with hyphens, such as {', '.join(RESERVED)}.",
        )
    return label


def as_label(words: str) -> str:
    """Return a stored label in the form in which labels are compared; one without a letter or digit stays."""
    return _kebab(words)[:MAX_LABEL].strip("-") or words.strip()


def labelled(links: "Iterable[Link]", words: str) -> "list[Link]":
    """
    Return those of *links* whose label is the one that *words* name, in whatever spelling it was written.

    Earlier versions replaced vowel signs, or everything that is not ASCII, by blanks. Links with such a
    label are returned only when no other matches.
    """
    label = as_label(words)
    link_list = list(links)
    former = {"-".join(re.findall(letters, label)) for letters in (r"[^\W_]+", "[a-z0-9]+")}
    matching = [link for link in link_list if as_label(link.rel) == label]
    return matching or [link for link in link_list if link.rel in former.difference(RESERVED)]


def _kebab(words: str) -> str:
    plain = unicodedata.normalize("NFKC", words).lower()
    spaced = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in plain)
    return "-".join(word for word in spaced.split() if any(map(str.isalnum, word)))
