"""
Memories as text for a model: data inside a frame that they cannot break out of.

In context that Daybook adds unasked, a memory is one neutralised line.
In an answer to a search its text is quoted: a bar begins every line.
"""

import re
import unicodedata
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from mcp_server.core.memory_parts import Status
from mcp_server.core.unseen import UNSEEN

if TYPE_CHECKING:  # slow to load, and hooks show text only
    from mcp_server.core.memory import Staleness

LINE_LIMIT = 300  # characters of one memory in context that Daybook adds unasked
MEGABYTE = 1024 * 1024  # bytes, as the person's limits in MB mean it
QUOTE = "   | "
CHARACTERS_PER_TOKEN = 4  # of English, about

_JOINERS = "\u200c\u200d"
_PRESENTED = "\ufe0e\ufe0f"  # whether the character before is drawn as a letter or as a picture
_KEYCAPS = "0123456789#*"
_LINE_ENDS = "\u2028\u2029"
_SWAPPED = str.maketrans({"<": "‹", ">": "›", "`": "'"})
_PLAIN = re.compile(r"[\n\t -~]*+")
_BLANKS = dict.fromkeys([*range(32), *range(127, 160)], " ")  # for control characters
_LEADING = "#->|*+=~_"
SENTENCE_END = re.compile(r"(?<![.\s]\w)[.!?](?=\s)")  # not the end of "e.g."


def state_of(status: Status, *, by: str = "", shadowed_by: str = "") -> str:
    """
    Return in a few words the state of a memory, '' for an active one.

    The memory *by* replaced it everywhere, the memory *shadowed_by* shadows it in this project only.
    """
    if status is not Status.ACTIVE:
        return status.value + (f" by {one_line(by, 80)}" if by else "")
    return (
        f"shadowed by {one_line(shadowed_by, 80)} in this project, applies elsewhere" if shadowed_by else ""
    )


def elsewhere(project: str) -> str:
    """
    Return that a memory is that of another *project*, named by its vault; '' for this one's.

    One in a repository may be of this project, too, in another folder that has it.
    """
    key, in_repository, _ = one_line(project, 80).partition("-repository-")
    if in_repository:
        return f"in another folder, of the project {key}"
    return f"of another project: {key}" if key else ""


def outdated(by: Sequence[str]) -> str:
    """Return a note that a conversation says what the memories *by* have superseded since; '' for none."""
    return f"says what was later superseded by {one_line(', '.join(by), 200)}" if by else ""


def files_of_before(stale: "Staleness") -> str:
    """Return which files of a memory changed since or are gone; '' for none."""
    changed = [f"{path} changed since" for path in stale.changed]
    return ", ".join([*changed, *(f"{path} is gone" for path in stale.missing)])


def visible(text: str) -> str:
    """
    Return *text* without control, format and private characters and those that nobody sees.

    Tabs and line feeds stay, and other ends of lines become line feeds. Joiners stay where they join letters
    or symbols, as in emoji, Persian and Hindi, and what makes a picture of a symbol stays behind one.
    """
    if _PLAIN.fullmatch(text):
        return text  # most texts match, and this check is much faster
    unseen = {character for character in set(text) if unicodedata.category(character)[0] == "C"}
    unseen = (unseen - set("\n\t")).union(re.findall(UNSEEN, text))
    characters = []
    for at, character in enumerate(text):
        if character in _LINE_ENDS:
            characters.append("\n")
        elif character not in unseen or _is_part_of_a_sign(text, at, unseen):
            characters.append(character)
    return "".join(characters)


def _is_part_of_a_sign(text: str, at: int, unseen: Container[str]) -> bool:
    """Tell whether the unseen character at *at* shapes what stands before it, or joins what is around it."""
    before = text[at - 1 : at] or " "
    if text[at] in _PRESENTED:
        return before in _KEYCAPS or not (before.isascii() or before in unseen)
    if text[at] not in _JOINERS or at == len(text) - 1:
        return False
    around = (unicodedata.category(before), unicodedata.category(text[at + 1]))
    return ord(before) > 0x0590 and all(name[0] in "LMS" or name == "Sk" for name in around)


def on_one_line(text: str) -> str:
    """Return *text* as one line: control characters and line breaks become blanks, invisible ones go."""
    return " ".join(visible(text.translate(_BLANKS)).split())


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """
    Return *text* as one line that means nothing to markdown, to Claude Code or to our own markers.

    Tags, comments, code marks, `@imports`, headings and list marks are neutralised; at most *limit*
    characters, an ellipsis where it was cut.
    """
    line = on_one_line(text).translate(_SWAPPED).lstrip(_LEADING + " ")
    if "@" in line:
        words = ["＠" + word[1:] if word.startswith("@") else word for word in line.split(" ")]
        line = " ".join(words)
    line = line.replace("[[", "[").replace("]]", "]")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 memory", "2 memories", "2 days"."""
    if number != 1:
        plural = f"{noun[:-1]}ies" if re.search("[^aeiou]y$", noun) else f"{noun}s"
        noun = f"{noun}es" if noun.endswith("s") else plural
    return f"{number:,} {noun}"


def repeats(title: str, text: str) -> bool:
    """Tell whether *text* begins with the whole *title*, so that the title need not be shown."""
    beginning, opening = (" ".join(part.casefold().split()) for part in (title, text[: 2 * len(title) + 80]))
    words = beginning.rstrip("…. ")
    ends_in_a_word = not beginning.endswith("…") and opening[len(words) : len(words) + 1].isalnum()
    return words != "" and opening.startswith(words) and not ends_in_a_word


def bytes_of(number: int) -> str:
    """Return a number of bytes for people: "900 bytes", "24 kB", "1.5 MB"."""
    if number < 1000:
        return counted(number, "byte")
    return f"{number / 1e3:.0f} kB" if number < 999_500 else f"{number / 1e6:,.1f} MB"


def quoted(text: str) -> str:
    """Return *text* with a bar before every line, so that no line can be taken for one of Daybook's."""
    return "\n".join(f"{QUOTE}{line}".rstrip() for line in visible(text).split("\n"))


def estimated_tokens(text: str) -> int:
    """Return about how many tokens *text* costs: its characters divided by four, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def within(parts: Sequence[str], limit: int, *, separator: str = "\n") -> tuple[list[str], int]:
    """Return the first *parts* that together fit into *limit* characters, and how many were left out."""
    fitting: list[str] = []
    length = 0
    for part in parts:
        length += len(part) + (len(separator) if fitting else 0)
        if length > limit:
            break
        fitting.append(part)
    return fitting, len(parts) - len(fitting)


def title_and_text(title: str, text: str, limit: int) -> str:
    """
    Return `title: text`, from which `shortened` makes a line of at most *limit* characters.

    A title that only repeats the beginning of the text is left out.
    """
    title, text = one_line(title, limit), one_line(text, 4 * limit)
    if not title or not text or repeats(title, text):
        return text or title
    between = " " if title.endswith(("?", "!", ":")) else ". " if ": " in title else ": "
    return f"{title.rstrip('.')}{between}{text}"


def shortened(line: str, room: int) -> str:
    """Return *line* in at most *room* characters, cut after a sentence in the last quarter, else a word."""
    if len(line) <= room:
        return line
    ends = [match.end() for match in SENTENCE_END.finditer(line, room * 3 // 4, room - 1)]
    if ends:
        return f"{line[: ends[-1]]} …"
    head, _, tail = line[:room].rpartition(" ")
    return f"{head.rstrip(',;:') if len(tail) < room // 2 else line[: room - 1]}…"
