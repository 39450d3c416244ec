import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import frontmatter
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_server.adapters.frontmatter_lines import StrictFrontmatter, scalar
from mcp_server.adapters.memory_file import KEYS, field_lines, parse, render, rewrite
from mcp_server.core.errors import Rejected, Unreadable
from mcp_server.core.memory import TAGS, USE_WHEN, Link, Memory
from mcp_server.core.memory_parts import ID, Kind, Status, strip_blank_lines
from mcp_server.core.memory_parts import timestamp as written
from mcp_server.core.memory_types import TYPES

DATA = Path(__file__).parent.parent / "data" / "memory_files"
MODIFIED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PUT_AWAY = (Status.ARCHIVED, Status.ORPHANED)

WORDS = (
    "no", "0123", "12:30", "1e3", "0x1f", "1_000", ".inf", "2024-06-01", "null", "~", "y", "", " x", "x ",
    "a: b", "key:", "a #b", "#x", "- a", "-1", "? x", "{a}", "[b]", "a, b", "'q'", '"q"', "\\", "a\nb", "\tx",
    "---", "...", "<<", "=", "%x", "@x", "`x`", "&a", "*a", "!t", "|", ">", "é", "日本", "👩‍👩‍👧", "\u2028",
    "\x85", "\ufeffa", "a\u00a0b", "src/lib/stripe.ts:42", "0:?",
)  # fmt: skip
INDICATORS = " :#-?,[]{}'\"\\\n\t&*!|>%@`~=<.0aé"
word = st.sampled_from(WORDS) | st.text(INDICATORS, max_size=12) | st.text(max_size=12)
word = word.filter(lambda text: "\0" not in text)
visible = word.filter(str.strip)
words = st.lists(visible, max_size=3).map(tuple)
moment = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
)
text = st.sampled_from(["", "---", "---\nid: x\n---", "# H\n\nx", "    code\nmore"]) | st.text(
    max_size=60
).map(lambda text: strip_blank_lines(text.replace("\r", "").replace("\0", "")))
memories = st.builds(
    Memory,
    id=st.from_regex(ID, fullmatch=True),
    title=visible,
    text=text,
    created=moment,
    updated=moment,
    kind=st.sampled_from(Kind),
    type=st.sampled_from(TYPES),
    tags=st.lists(word, max_size=4).map(lambda tags: TAGS.cleaned(TAGS.cleaned(tags))),
    aliases=words,
    use_when=words.map(USE_WHEN.once),
    source=word,
    status=st.sampled_from(Status),
    archived_reason=word,
    pinned=st.booleans(),
    trust=st.none() | st.floats(0, 1),
    touches=words,
    links=st.lists(st.builds(Link, visible, visible, words), max_size=3).map(tuple),
    supersedes=words,
    superseded_by=word,
    merged_from=words,
    valid_from=st.none() | moment,
    valid_to=st.none() | moment,
    verified=st.none() | moment,
    category=word,
    session=word,
    conversation=word,
    evidence=word,
    notes=words,
)

# What other programs and people write between our keys.
STRANGERS = (
    "# a comment",
    "   # an indented comment",
    "",
    "cssclasses: [a,  'b' ]   # why",
    "Key With Blanks:   v  ",
    "empty:",
    "nested:\n    a: 1\n    b:\n      - x # y\n      # z",
    'quoted: "several\n  lines # no comment\n\n  x"',
    "literal: |\n  # no comment\n\n  x\n",
    "folded: >-\n  a\n\n  b",
    "date created: 2024-01-01",
)


@dataclass(frozen=True)
class File:
    memory: Memory
    data: bytes
    path: str
    strangers: Sequence[str]


@st.composite
def files(draw: st.DrawFn) -> File:
    """A file as hands and programs leave it."""
    memory = draw(memories)
    parts = []
    for key in draw(st.permutations(KEYS)):
        lines = field_lines(memory, key)
        if key in ("tags", "touches") and getattr(memory, key) and draw(st.booleans()):
            items = [f"    - {scalar(item)}" for item in getattr(memory, key)]
            lines = [f"{key}:  # behind {key}", "  # marked comment", "", *items]
        elif len(lines) == 1 and draw(st.booleans()):
            lines = [f"{lines[0]}  # behind {key}"]
        if lines and draw(st.integers(0, 5)):
            parts.append("\n".join(lines))
    strangers = draw(st.lists(st.sampled_from(STRANGERS), unique=True))
    for stranger in strangers:
        parts.insert(draw(st.integers(0, len(parts))), stranger)
    parts.append("last: one")
    blank = draw(st.sampled_from(["\n", "\n\n", "  \n"]))
    whole = (
        "---\n" + "\n".join(parts) + "\n---" + blank + memory.text + draw(st.sampled_from(["", "\n", "\n\n"]))
    )
    eol, mark = draw(st.sampled_from(["\n", "\r\n", "\r"])), draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    data = mark + whole.replace("\n", eol).encode()
    return File(
        read(data, memory), data, place(memory), [stranger.replace("\n", eol) for stranger in strangers]
    )


def place(memory: Memory) -> str:
    return f"{'archive' if memory.status in PUT_AWAY else memory.kind.folder}/{memory.id}.md"


def read(data: bytes, like: Memory | None = None) -> Memory:
    """Read *data* as the file of a memory that lies where *like* does, else in knowledge/."""
    if like is None:
        return parse(data, path="knowledge/a-file.md", kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED)
    archived = like.status in PUT_AWAY
    return parse(data, path=place(like), kind=like.kind, archived=archived, modified=MODIFIED)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.md")), ids=lambda path: path.stem)
def test_a_file_is_read_as_the_json_beside_it_says(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    try:
        memory = parse(
            path.read_bytes(), path=path.name, kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED
        )
    except Unreadable as error:
        line, reason = expected["unreadable"]
        assert error.line == line
        assert reason in error.reason
        return
    assert expected == {key: _plain(getattr(memory, key)) for key in expected}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return written(value)
    if isinstance(value, Link):
        return [value.rel, value.to]
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def test_a_memory_is_written_as_a_person_would_write_it() -> None:
    path = DATA / "as-written.md"
    assert render(read(path.read_bytes())) == path.read_bytes()


@pytest.mark.feature("A-18", "D-12")
def test_every_field_has_its_line_in_a_set_order() -> None:
    memory = Memory(
        id="all-fields", title="No: all fields", text="Text.\n\n    code", created=NOON, updated=NOON,
        kind=Kind.SESSION, type="decision", tags=("a", "no"), aliases=("Fields, all",), source="extracted",
        status=Status.ARCHIVED, archived_reason="aged", pinned=True, trust=0.7,
        touches=("src/a.ts:42", "a, b"),
        links=(Link("refines", "x", ("why, so", "b")), Link("depends-on", "src/a b.py:1")), supersedes=("x",),
        superseded_by="y", merged_from=("z",), valid_from=NOON, valid_to=NOON, verified=NOON, category="c",
        session="0123", conversation="d", evidence="two\nlines", notes=("One: two.", "three"),
    )  # fmt: skip
    assert render(memory).decode() == (
        "---\n"
        "id: all-fields\n"
        'title: "No: all fields"\n'
        'aliases: ["Fields, all"]\n'
        "kind: session\n"
        "type: decision\n"
        'tags: [a, "no"]\n'
        "created: 2026-11-20T12:00:00Z\n"
        "updated: 2026-11-20T12:00:00Z\n"
        "source: extracted\n"
        "status: archived\n"
        "archived_reason: aged\n"
        "pinned: true\n"
        "trust: 0.7\n"
        'touches: [src/a.ts:42, "a, b"]\n'
        "links:\n"
        '  - {rel: refines, to: x, notes: ["why, so", b]}\n'
        "  - {rel: depends-on, to: src/a b.py:1}\n"
        "supersedes: [x]\n"
        'superseded_by: "y"\n'
        "merged_from: [z]\n"
        "valid_from: 2026-11-20T12:00:00Z\n"
        "valid_to: 2026-11-20T12:00:00Z\n"
        "verified: 2026-11-20T12:00:00Z\n"
        "category: c\n"
        'session: "0123"\n'
        "conversation: d\n"
        'evidence: "two\\nlines"\n'
        "notes:\n"
        '  - "One: two."\n'
        "  - three\n"
        "---\n"
        "Text.\n\n    code\n"
    )


@settings(max_examples=200)
@given(memories)
def test_what_is_rendered_is_read_back_the_same(memory: Memory) -> None:
    like = replace(memory, kind=Kind.KNOWLEDGE) if memory.status in PUT_AWAY else memory
    assert read(render(memory), like) == memory


@settings(max_examples=200)
@given(word)
@example("\U0010ffff")
def test_any_yaml_reader_takes_our_words_for_the_same_words(text: str) -> None:
    inside = scalar(text, flow=True)
    for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        document = (
            f"a: {scalar(text)}\nb: [{inside}, {inside}]\nc:\n  - {scalar(text)} # d\n  - {{e: {inside}}}\n"
        )
        assert yaml.load(document, loader) == {"a": text, "b": [text, text], "c": [text, {"e": text}]}


@pytest.mark.parametrize(
    "text", ["C# and F#", "a, b [c]", "3 databases", "src/a.py:42", "it's “so”", "日本 👩‍👩‍👧"]
)
def test_plain_words_are_written_without_quotes(text: str) -> None:
    assert scalar(text) == text


def test_what_a_file_cannot_hold_is_replaced_or_refused() -> None:
    memory = Memory(id="x", title="a\0b\ud800c", text="d", created=NOON, updated=NOON)
    assert read(render(memory)).title == "a\ufffdb\ufffdc"
    with pytest.raises(Rejected, match=r"65,536 is the limit"):
        render(replace(memory, evidence="x" * 70_000))
    with pytest.raises(Rejected, match="NUL"):
        rewrite(render(memory), replace(memory, text="a\0b"), path="knowledge/x.md")


@settings(max_examples=100)
@given(files())
def test_a_memory_that_did_not_change_leaves_its_file_as_it_is(file: File) -> None:
    assert rewrite(file.data, file.memory, path=file.path) == file.data


@settings(max_examples=120)
@given(files(), memories)
def test_a_rewrite_says_the_new_memory_and_keeps_every_byte_that_is_not_ours(file: File, new: Memory) -> None:
    old, data, path = file.memory, file.data, file.path
    partly = replace(old, updated=new.updated, tags=new.tags, status=new.status, category=f"{old.category}z")
    # A date alone, which the file does not say, could not be told from that of the file.
    for changed in (partly, replace(new, evidence=f"{old.evidence}{new.evidence}z")):
        after = rewrite(data, changed, path=path)
        assert read(after, changed) == changed
        assert rewrite(after, changed, path=path) == after
        for line in (*file.strangers, "# marked comment", *(f"# behind {key}" for key in KEYS)):
            assert line.encode() not in data or line.encode() in after
        assert after.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
        if b"\r\n" in data:
            assert after.count(b"\n") == after.count(b"\r") == after.count(b"\r\n")
        elif b"\r" in data:
            assert b"\n" not in after
    text = data[data.rindex(b"last: one") :].partition(b"---")[2]
    assert rewrite(data, partly, path=path).endswith(text)


@settings(max_examples=200)
@given(
    st.binary(max_size=40)
    | st.lists(
        st.sampled_from([*"\n\r\t-:[]{}'\"|?aé", "  ", ": ", "- ", "title: x", "tags: [a, b]", "# c"]),
        max_size=16,
    ).map(lambda parts: f"---\na: {''.join(parts)}\n---\n".encode()),
    memories,
)  # fmt: skip
def test_any_file_is_refused_with_a_line_or_can_be_rewritten(data: bytes, new: Memory) -> None:
    try:
        old = read(data)
    except Unreadable as error:
        assert 0 <= error.line <= 1 + data.count(b"\n") + data.count(b"\r")
        return
    assert rewrite(data, old, path="knowledge/a-file.md") == data
    changed = replace(new, evidence=f"{old.evidence}{new.evidence}z")
    assert read(rewrite(data, changed, path="knowledge/a-file.md"), changed) == changed


def test_python_frontmatter_reads_a_file_through_our_handler() -> None:
    post = frontmatter.loads("---\nid: no\ntags: [0123]\n---\nText.", handler=StrictFrontmatter("x.md"))
    assert (post.metadata, post.content) == ({"id": "no", "tags": ["0123"]}, "Text.")
    post = frontmatter.loads("---\nprose\n---\nText.", handler=StrictFrontmatter("x.md"))
    assert (post.metadata, post.content) == ({}, "---\nprose\n---\nText.")
