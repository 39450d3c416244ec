"""
Passages: slices of a memory small enough to embed.

The default model reads 256 tokens, about 1,000 characters of English; the budgets below were
measured in `benchmarks/retrieval.py`.
A passage is cut at headings, then between paragraphs, then at line ends, and never inside a code
fence when the fence fits.
"""

from collections.abc import Iterable, Iterator, Sequence

from mcp_server.core import markdown
from mcp_server.core.memory import USE_WHEN, Memory
from mcp_server.core.memory_parts import OCCASIONS, Kind
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.sessions.conversation import parse_turns

PASSAGE_SIZE = 800  # characters
STEP = " > "  # between the title and the headings of a passage
PASSAGE_OVERLAP = 150  # characters repeated from the passage before, within one section


def passages(memory: Memory) -> list[str]:
    """
    Return the passages of *memory* as they are embedded and searched, the title alone if there is no text.

    Each starts with the memory's title and the headings above it, so that it can be understood alone;
    a title that only repeats how the passage begins is left out.
    Secrets are masked before a longer text is cut, because the end of a private key looks like none.
    Those of conversations are whole turns, as many as fit, each as `speaker (time): words`.
    """
    if memory.kind is Kind.CONVERSATION:
        return _packed(_utterances(memory)) or [memory.title]
    text = redact(memory.text) if len(memory.text) > PASSAGE_SIZE else memory.text
    pieces_found = [(path, piece) for path, section in sections(text) for piece in pieces(section)]
    return [_headed(memory.title, path, piece) for path, piece in pieces_found] or [memory.title]


def positioned(memory: Memory) -> list[tuple[int, str]]:
    """
    Return (position, passage) of each of the `passages` of *memory*, and of its `use_when` if it has any.

    All its occasions are one passage. A memory is about what somebody knows, a prompt about what somebody is
    going to do: the occasions say what of the one bears on the other (`benchmarks/results/prompts.md`).
    """
    occasions = "\n".join(occasion[: USE_WHEN.longest] for occasion in memory.use_when[: USE_WHEN.most])
    own = enumerate(passages(memory))
    return [*own, (OCCASIONS, redact(occasions))] if occasions else [*own]


def without_head(passage: str, title: str) -> str:
    """Return *passage* without its *title*, as it is shown below that; the headings above it stay."""
    head, _, text = passage.partition("\n")
    if head == title:
        return text
    path = head.removeprefix(f"{title}{STEP}")
    return passage if path == head else f"{path}\n{text}"


def _headed(title: str, path: Sequence[str], piece: str) -> str:
    beginning = " ".join(piece[: 2 * len(title)].split())
    repeated = beginning.startswith(title.rstrip("…. ")) if not path else path[0] == title
    head = STEP.join(path if repeated else [title, *path])
    return f"{head}\n{piece}" if head else piece


def _utterances(memory: Memory) -> Iterator[str]:
    """Yield the turns of a conversation with their speaker and time, long ones in pieces."""
    for turn in parse_turns(memory.text):
        time = turn.time or f"{memory.created:%Y-%m-%d}"
        for piece in pieces(turn.words):
            yield f"{turn.speaker or 'unknown'} ({time}): {piece}"


def _packed(utterances: Iterable[str]) -> list[str]:
    """Return *utterances* joined into passages, as many in each as fit."""
    packed: list[str] = []
    for utterance in utterances:
        if packed and len(packed[-1]) + 1 + len(utterance) <= PASSAGE_SIZE:
            packed[-1] += f"\n{utterance}"
        else:
            packed.append(utterance)
    return packed


def sections(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield (headings above, text) for each run of *text* with words; a last heading without is words."""
    above: list[str] = []
    run = ""
    for above, run in markdown.sections(text):
        if run.strip():
            yield above, run.strip("\n")
    if above and not run:
        yield above[:-1], above[-1]


def pieces(section: str) -> list[str]:
    """Return *section* in pieces of about PASSAGE_SIZE, neighbours sharing about PASSAGE_OVERLAP."""
    if len(section) <= PASSAGE_SIZE:
        return [section]
    result: list[str] = []
    current = ""
    for block in _blocks(section):
        if current and len(current) + 2 + len(block) > PASSAGE_SIZE:
            result.append(current)
            current = _tail(current)
            if len(current) + 2 + len(block) > PASSAGE_SIZE + PASSAGE_OVERLAP:
                current = ""
        current = f"{current}\n\n{block}" if current else block
    return [*result, current] if current else result


def _blocks(section: str) -> Iterator[str]:
    """Yield paragraphs and whole fences; longer ones than a piece are cut at line ends, else anywhere."""
    for block in markdown.paragraphs(section):
        if len(block) <= PASSAGE_SIZE:
            yield block
            continue
        piece = ""
        for line in block.split("\n"):
            for start in range(0, max(len(line), 1), PASSAGE_SIZE):
                part = line[start : start + PASSAGE_SIZE]
                if piece and len(piece) + 1 + len(part) > PASSAGE_SIZE:
                    yield piece
                    piece = ""
                piece = f"{piece}\n{part}" if piece else part
        if piece:
            yield piece


def _tail(text: str) -> str:
    """Return the end of *text*, at most PASSAGE_OVERLAP characters, from the start of a word."""
    end = text[-PASSAGE_OVERLAP:]
    return end.partition(" ")[2].strip() if len(text) > PASSAGE_OVERLAP else end
