"""
Markdown line by line, as in https://spec.commonmark.org/0.31.2/: fenced code, headings, paragraphs.

A fence that is never closed encloses all that follows. An underlined line is a heading only when it stands
alone: below a list or a table, people mean a rule.
"""

import re
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_INLINE = re.compile(r"`[^`\n]*`")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,4}[.)])[ \t]+\S")


def opens(line: str) -> str:
    """Return the fence if *line* begins a block of code, '' otherwise."""
    fence = _FENCE.match(line)
    return fence[1] if fence else ""


def closes(line: str, fence: str) -> bool:
    """Tell whether *line* ends the block of code that *fence* began."""
    opening = opens(line)
    return opening.startswith(fence) and line.strip() == opening


def lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of *text*, and whether it is fenced code; the fences count as code."""
    fence = ""
    for line in text.split("\n"):
        if fence:
            yield line, True
            fence = "" if closes(line, fence) else fence
        else:
            fence = opens(line)
            yield line, bool(fence)


def outside_code(text: str) -> str:
    """Return *text* without fenced and inline code."""
    return _INLINE.sub("", "\n".join("" if is_code else line for line, is_code in lines(text)))


def left_conflict(text: str) -> int:
    """
    Return the line of *text*, from 1, at which git left a conflict outside code, 0 when there is none.

    A conflict has three marks, in their order: `<<<<<<< name`, `=======`, `>>>>>>> name`.
    """
    if "\n>>>>>>> " not in text:
        return 0  # as most
    begins = 0
    is_parted = False
    for number, (line, is_code) in enumerate(lines(text), start=1):
        if is_code:
            continue
        if line.startswith("<<<<<<< "):
            begins, is_parted = number, False
        elif line == "=======":
            is_parted = begins > 0
        elif is_parted and line.startswith(">>>>>>> "):
            return begins
    return 0


def is_item(text: str) -> bool:
    """Tell whether *text* begins with an item of a list."""
    return bool(_ITEM.match(text))


def sections(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield (headings above, text) for each run of *text* between headings, empty runs included."""
    above: list[tuple[int, str]] = []
    run: list[str] = []
    for line, is_code in lines(text):
        depth, words = (0, "") if is_code else _heading(line)
        if not depth and not is_code and _UNDERLINE.match(line) and _stands_alone(run):
            depth, words = (1 if "=" in line else 2), run.pop().strip()
        if not depth:
            run.append(line)
            continue
        yield [title for _, title in above], "\n".join(run)
        run = []
        above = [(level, title) for level, title in above if level < depth]
        above.append((depth, words))
    yield [title for _, title in above], "\n".join(run)


def first_heading(text: str) -> str:
    """Return the first heading of *text*, '' when there is none."""
    return next((above[-1] for above, _ in sections(text) if above), "")


def paragraphs(text: str) -> Iterator[str]:
    """Yield the parts of *text* between blank lines; fenced code is not split."""
    part: list[str] = []
    for line, is_code in lines(text):
        if line.strip() or is_code:
            part.append(line)
        elif part:
            yield "\n".join(part)
            part = []
    if part:
        yield "\n".join(part)


def _heading(line: str) -> tuple[int, str]:
    """Return the depth and the words of the heading in *line*; (0, '') for any other line."""
    mark = _HEADING.match(line)
    if not mark:
        return 0, ""
    words = line[mark.end() :].rstrip()
    bare = words.rstrip("#")
    title = bare.rstrip() if bare[-1:] in ("", " ", "\t") else words  # the `#` of `C#` is part of the word
    return (len(mark[1]), title) if title else (0, "")


def _stands_alone(run: list[str]) -> bool:
    """Tell whether the last line of *run* is prose after a blank line, so that the next may underline it."""
    if not run or not run[-1].strip() or (len(run) > 1 and run[-2].strip()):
        return False
    return any(map(str.isalnum, run[-1])) and not is_item(run[-1]) and "|" not in run[-1]
