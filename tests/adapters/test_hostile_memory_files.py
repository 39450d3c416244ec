"""Files that nobody should have written: each has a verdict, and none does harm."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from mcp_server.adapters.memory_file import parse, rewrite
from mcp_server.core.errors import Unreadable
from mcp_server.core.memory import Link, Memory
from mcp_server.core.memory_parts import ID, Kind
from tests.growth import grows_evenly

MODIFIED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BOM = b"\xef\xbb\xbf"


def head(lines: str) -> bytes:
    return f"---\n{lines}\n---\nBody.\n".encode()


ALIAS_BOMB = "a0: &a0 [x, x, x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 10))
MERGE_BOMB = "a0: &a0 {k: v}\n" + "\n".join(
    f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]" for n in range(1, 26)
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MEBIBYTE = 1024 * 1024

UNREADABLE = {
    # name: (bytes, line, words of the reason)
    "no byte": (b"", 0, "is empty"),
    "one line feed": (b"\n", 0, "is empty"),
    "only blanks": (b" \t\r\n \n", 0, "is empty"),
    "only a byte order mark": (BOM, 0, "is empty"),
    "NUL in the text": (b"one\ntwo\r\nth\0ree", 3, "NUL"),
    "NUL in the frontmatter": (head("id: x\ntitle: a\0b"), 3, "NUL"),
    "binary": (bytes(range(256)) * 100, 3, "is not UTF-8"),
    "UTF-16 with its mark": ("\ufeffid".encode("utf-16-le"), 1, "is not UTF-8"),
    "UTF-16 without": ("id: x\n".encode("utf-16-le"), 1, "NUL"),
    "Latin-1": ("---\ntitle: x\n---\ncafé".encode("latin-1"), 4, "is not UTF-8; save it as UTF-8"),
    "Latin-1 after carriage returns": (b"a\rb\r\n\xe9", 3, "is not UTF-8"),
    "half a surrogate pair": (b"a\n\xed\xa0\x80", 2, "is not UTF-8"),
    "overlong NUL": (b"a\xc0\x80", 1, "is not UTF-8"),
    "cut inside a character": ("é".encode()[:1], 1, "is not UTF-8"),
    "never closed": (b"---\nid: x\ntitle: y\n\nBody.\n", 1, "never closed"),
    "never closed, closed with dots": (b"---\nid: x\n...\nBody.\n", 1, "never closed"),
    "never closed, closing line indented": (b"---\nid: x\n ---\nBody.\n", 1, "never closed"),
    "tab for indentation": (head("links:\n\t- x"), 3, "a tab stands where only spaces may"),
    "duplicate key below a blank line": (b"\n" + head("title: a\ntitle: b"), 4, "'title' is there twice"),
    "duplicate key": (head("id: x\ntitle: a\ntitle: b"), 4, "'title' is there twice"),
    "duplicate key in another spelling": (head("title: a\n'title': b"), 3, "twice"),
    "duplicate key in a map": (head("links:\n  - {to: a, to: b}"), 3, "'to' is there twice"),
    "anchor": (head("id: x\ntitle: &t words"), 3, "anchor 't'"),
    "anchor before the first key": (head("&a id: x"), 2, "anchor 'a'"),
    "anchor on a list": (head("id: x\ntags: &t [a]"), 3, "anchor 't'"),
    "alias": (head("id: x\ntitle: *t"), 3, "anchor 't'"),
    "alias as a key": (head("id: x\n*t : y"), 3, "anchor 't'"),
    "alias bomb": (head(ALIAS_BOMB), 2, "anchor 'a0'"),
    "merge key": (head("id: x\n<<: {title: y}"), 3, "merge key"),
    "merge key first": (head("<<: {title: y}"), 2, "merge key"),
    "merge bomb": (head(MERGE_BOMB), 2, "anchor 'a0'"),
    "tag that runs code": (head("title: !!python/object/apply:os.system [id]"), 2, "tag"),
    "tag before the first key": (head("!!map title: x"), 2, "tag"),
    "tag of one's own": (head("id: x\ntitle: !secret y"), 3, "tag '!secret'"),
    "tag that says nothing": (head("title: ! y"), 2, "tag '!'"),
    "brackets": (head("tags: " + "[" * 8_000), 2, "nested more than 4 deep"),
    "70,000 brackets": (head("tags: " + "[" * 70_000), 1, "70,007 bytes"),
    "70,000 braces": (head("tags: " + "{" * 70_000), 1, "65,536 is the limit"),
    "dashes in a row": (head("tags:\n  " + "- " * 1_000 + "x"), 3, "nested more than 4 deep"),
    "question marks in a row": (head("tags:\n  " + "? " * 1_000 + "x"), 3, "not a word"),
    "a fifth level": (head("id: x\na:\n  b:\n    c:\n      d:\n        e: f"), 7, "nested more than 4 deep"),
    "65 keys": (head("\n".join(f"k{n}: v" for n in range(65))), 66, "more than 64 keys"),
    "a map with 65 keys": (head("m: {" + ", ".join(f"k{n}" for n in range(65)) + "}"), 2, "64 keys"),
    "64 KiB and a byte": (head("title: " + "x" * (64 * 1024 - 7)), 1, "65,537 bytes"),
    "64 KiB in wide characters": (head("title: " + "🙂" * 16_383), 1, "65,540 bytes"),
    "a mebibyte of frontmatter": (head("k: v\n" * 200_000), 1, "65,536 is the limit"),
    "quote never closed": (head("id: x\ntitle: 'y\ntags: [a]"), 3, "end of stream"),
    "bracket never closed": (head("id: x\ntags: [a, b\ntitle: y"), 4, "not valid"),
    "unknown escape": (head('title: "\\q"'), 2, "unknown escape character"),
    "escaped NUL": (head('id: x\ntitle: "a\\0b"'), 3, "escaped NUL"),
    "escaped surrogate": (head('id: x\ntitle: "\\ud83d"'), 3, "the frontmatter"),
    "escape beyond Unicode": (head('title: "\\UFFFFFFFF"'), 2, "the frontmatter"),
    "control character": (head("id: x\ntitle: a\x01b"), 3, "control character U+0001"),
    "escape sequence of a terminal": (head("title: \x1b[31mred"), 2, "control character U+001B"),
    "delete character": (head("title: a\x7fb"), 2, "control character U+007F"),
    "half of nothing": (head("id: x\ntitle: a\uffffb"), 3, "control character U+FFFF"),
    "second document": (head("id: x\n--- \ttitle: y"), 3, "more than one document"),
    "second document on its line": (head("id: x\n--- y"), 3, "more than one document"),
    "document closed with dots": (head("id: x\n...\ntitle: y"), 3, "more than one document"),
    "directive after a key": (head("id: x\n%YAML 1.1"), 4, "not valid"),
    "a list for a key": (head("id: x\n? [a]\n: b"), 3, "a key of the frontmatter is not a word"),
    "no key before the colon": (head("id: x\n: y"), 3, "did not find expected key"),
    "template that was not filled in": (head("id: x\ntitle: {{title}}"), 3, "not a word"),
    "a tab in a list": (head("id: x\ntags:\n\t- a"), 4, "a tab stands where only spaces may"),
    "a conflict of git": (
        head("id: x\n<<<<<<< HEAD\ntype: note\n=======\ntype: gotcha\n>>>>>>> b"),
        3,
        "git left a conflict here",
    ),
    "a conflict of git in the text": (
        head("id: x") + b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n",
        5,
        "git left a conflict here",
    ),
    "a conflict of git around the frontmatter": (
        b"<<<<<<< HEAD\r\n" + head("id: x") + b"=======\r\n" + head("id: x") + b">>>>>>> b\r\n",
        1,
        "git left a conflict here",
    ),
    "colon in a value": (head("id: x\ntitle: a: b"), 3, "needs quotes"),
    "prose between the keys": (head("id: x\nand so on\ntitle: y"), 4, "not valid"),
    "list behind a key": (head("tags: - a"), 2, "not valid"),
    "value that starts with an at": (head("id: x\ntitle: @me"), 3, "cannot start any token"),
    "value that starts with a backtick": (head("id: x\ntitle: `make`"), 3, "cannot start any token"),
    "id that leads out": (head("title: x\nid: ../../etc/passwd"), 3, "'../../etc/passwd' is not an id"),
    "id with NUL": (head('id: "a\\0"'), 2, "NUL"),
    "id in capitals": (head("id: Stripe"), 2, "'Stripe' is not an id"),
    "id in Cyrillic": (head("id: \u0430bc"), 2, "is not an id"),
    "id with a line feed": (head('id: "abc\\n"'), 2, "is not an id"),
    "id of 81 characters": (head(f"id: {'a' * 81}"), 2, "is not an id"),
    "list of ids": (head("id: [a, b]"), 2, "is not an id"),
}

READABLE = {
    # name: (bytes, what the memory says)
    "one letter": (b"x", {"text": "x", "title": "a-file", "id": "a-file"}),
    "mark, frontmatter": (BOM + head("title: x"), {"title": "x", "text": "Body."}),
    "CRLF": (head("title: x\ntags:\n- a").replace(b"\n", b"\r\n"), {"title": "x", "tags": ("a",)}),
    "CR": (head("title: x\nid: y").replace(b"\n", b"\r"), {"title": "x", "id": "y", "text": "Body."}),
    "mixed line ends": (b"---\r\ntitle: x\rid: y\n---\r\na\rb\r\nc", {"id": "y", "text": "a\nb\nc"}),
    "no final line feed": (b"---\ntitle: x\n---", {"title": "x", "text": ""}),
    "blanks behind the delimiters": (b"--- \t\ntitle: x\n---  \nBody.", {"title": "x", "text": "Body."}),
    "empty frontmatter": (b"---\n---\nBody.", {"title": "a-file", "text": "Body."}),
    "blank frontmatter": (b"---\n\n \n---\nBody.", {"text": "Body."}),
    "only a rule": (b"---", {"text": "---"}),
    "heading between rules": (b"---\n# T\n---\nx", {"title": "T", "text": "---\n# T\n---\nx"}),
    "prose below a rule": (b"---\nWe said yes.\nid: x\n", {"text": "---\nWe said yes.\nid: x"}),
    "list below a rule": (b"---\n- a: b\n---\n", {"text": "---\n- a: b\n---"}),
    "directive below a rule": (b"---\n%YAML 1.1\n---\n", {"text": "---\n%YAML 1.1\n---"}),
    "braces": (b'---\n{"id": "x"}\n---\n', {"id": "a-file", "text": '---\n{"id": "x"}\n---'}),
    "blank lines above": (b"\r\n \n" + head("id: x\nsource: mined"), {"id": "x", "source": "mined"}),
    "indented delimiter": (b" ---\nid: x\n---\n", {"id": "a-file"}),
    "four dashes": (b"----\nid: x\n----\n", {"id": "a-file"}),
    "second block": (b"---\nid: x\n---\n---\nid: y\n---\n", {"id": "x", "text": "---\nid: y\n---"}),
    "64 keys": (head("id: x\n" + "\n".join(f"k{n}: v" for n in range(63))), {"id": "x"}),
    "64 KiB": (head("title: " + "x" * (64 * 1024 - 8)), {"title": "x" * (64 * 1024 - 8)}),
    "sexagesimal": (head("title: 1" + ":59" * 5_000), {"title": "1" + ":59" * 5_000}),
    "Norway": (head("title: no\ncategory: NO\ntags: [no, on]"), {"title": "no", "tags": ("no", "on")}),
    "octal": (head("id: 0123\ncategory: 0o17"), {"id": "0123", "category": "0o17"}),
    "date for a title": (head("title: 2024-06-01"), {"title": "2024-06-01"}),
    "time": (head("session: 12:30:45"), {"session": "12:30:45"}),
    "huge number": (head(f"session: {'9' * 9_000}"), {"session": "9" * 9_000}),
    "no value": (head("id:\ntitle:\ntags:\nsource:"), {"id": "a-file", "tags": (), "source": "manual"}),
    "lists for words": (head("title: [a]\nsource: {a: b}"), {"title": "a-file", "source": "manual"}),
    "unknown words": (head("type: idea\nkind: thing\nstatus: odd"), {"type": "note", "kind": Kind.KNOWLEDGE}),
    "words in capitals": (head("type: Decision\npinned: TRUE"), {"type": "decision", "pinned": True}),
    "day that never was": (head("created: 2026-02-31"), {"created": MODIFIED}),
    "date in words": (head("updated: last spring"), {"updated": MODIFIED}),
    "date before time began": (head("created: 0001-01-01T00:00+14:00"), {"created": MODIFIED}),
    "date after time ended": (head("valid_to: 9999-12-31T23:59-14:00"), {"valid_to": None}),
    "trust that is no number": (head("trust: nan"), {"trust": None}),
    "trust without end": (head("trust: inf"), {"trust": 1.0}),
    "trust below nothing": (head("trust: -3"), {"trust": 0.0}),
    "25 tags": (head(f"tags: {','.join(LETTERS[:25])}"), {"tags": tuple(LETTERS[:25])}),
    "3,000 tags that are none": (head("tags: [" + "-," * 100 + "'#'," * 3_000 + "]"), {"tags": ()}),
    "tags of all sorts": (head("tags: ['#A b', {x: y}, [z], c/d]"), {"tags": ("a-b", "c/d")}),
    "occasions of all sorts": (
        head("use_when: [' a  b ', {x: y}, [z], '', ' ', 42, \"c\\r\\nd\\e[1m\\u2029e\", a b]"),
        {"use_when": ("a b", "42", "c d[1m e")},
    ),
    "occasions between commas": (head("use_when: a b, c,, "), {"use_when": ("a b", "c")}),
    "nine occasions, and a long one": (
        head(f"use_when: [{', '.join(LETTERS[:9])}, {'x' * 2_000}]"),
        {"use_when": (*LETTERS[:9], "x" * 2_000)},
    ),
    "blank texts in lists": (
        head("aliases: ['', ' ']\ntouches: ''\nnotes: ['', a]\nlinks: {to: a, rel: b, notes: ['']}"),
        {"aliases": (), "touches": (), "notes": ("a",), "links": (Link("b", "a"),)},
    ),
    "links of all sorts": (
        head("links: [a, 'r: b', {s: c}, {to: d}, {rel: t}, {rel: '', to: e}, [f], '', {to: ''}]"),
        {"links": tuple(Link(*pair) for pair in (
            ("relates-to", "a"), ("r", "b"), ("s", "c"), ("relates-to", "d"),
            ("relates-to", "e"), ("relates-to", "f"),
        ))},
    ),
    "one link": (head("links: {depends-on: a}"), {"links": (Link("depends-on", "a"),)}),
    "line separator": (head("id: x\ntitle: a\u2028b\nsource: c"), {"title": "a b", "source": "c"}),
    "right to left and joined emoji": (head("title: \u202eabc 👩‍👩‍👧"), {"title": "\u202eabc 👩‍👩‍👧"}),
    "comment that is none": (head("title: C#-like \nsource: a#b # c"), {"title": "C#-like", "source": "a#b"}),
    "a conflict of git in a fence": (
        b"```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n```\n", {"title": "a-file"}
    ),
    "marks that are no conflict": (
        b"=======\nQuoted:\n>>>>>>> deep\n<<<<<<< less\n>>>>>>> more\n", {"title": "a-file"}
    ),
    "heading in a fence": (b"~~~\n# a\n```\n# b\n~~~~\n# C#\n", {"title": "C#"}),
    "fence never closed": (b"```\n# a\n", {"title": "a-file"}),
    "underlined heading": (b"a\n\nThe title\n=====\nb", {"title": "The title"}),
    "underlined heading in a fence": (b"```\na\n===\n```\n\nb\n=", {"title": "b"}),
    "empty headings": (b"# \n## ##\n#no\n### yes ###\n", {"title": "yes"}),
    "heading of control characters": (b"# \x1b\x07\n", {"title": "a-file"}),
    "long heading": (b"# " + b"x" * 900, {"title": "x" * 199 + "…"}),
    "one line of a mebibyte": (b"x" * MEBIBYTE, {"title": "a-file"}),
    "a mebibyte of empty headings": (b"# \n" * (MEBIBYTE // 3), {"title": "a-file"}),
    "a mebibyte of blanks": (b"x" + b" " * (MEBIBYTE - 2) + b"y", {"title": "a-file"}),
    "a mebibyte of rules": (b"---\n" * (MEBIBYTE // 4), {"title": "a-file"}),
    "a mebibyte of comments": (b"---\n" + b"# c\n" * (MEBIBYTE // 4 - 1), {"title": "c"}),
    "900 KiB of blank lines": (b"x" + b"\n" * 921_600 + b"y", {"title": "a-file"}),
}  # fmt: skip


def read(data: bytes) -> Memory:
    return parse(data, path="knowledge/a-file.md", kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED)


def verdict(data: bytes) -> Memory | Unreadable:
    try:
        return read(data)
    except Unreadable as error:
        return error


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_broken_file_is_reported_with_its_line_and_the_reason(name: str) -> None:
    data, line, words = UNREADABLE[name]
    with pytest.raises(Unreadable) as caught:
        read(data)
    assert (caught.value.path, caught.value.line) == ("knowledge/a-file.md", line)
    assert words in caught.value.reason
    assert caught.value.reason.isprintable()


@pytest.mark.parametrize("name", READABLE)
def test_a_strange_file_is_read_as_far_as_it_makes_sense(name: str) -> None:
    data, expected = READABLE[name]
    memory = read(data)
    assert expected == {key: getattr(memory, key) for key in expected}


@pytest.mark.parametrize("name", READABLE)
def test_a_strange_file_that_says_it_already_is_not_rewritten(name: str) -> None:
    data, _ = READABLE[name]
    assert rewrite(data, read(data), path="knowledge/a-file.md") == data


@pytest.mark.parametrize(
    "data",
    [
        lambda times: b"x" * times,
        lambda times: b"# \n" * times,
        lambda times: b"x" + b" " * times + b"y",
        lambda times: b"---\n" * times,
        lambda times: b"---\n" + b"# c\n" * times,
        lambda times: b"x" + b"\n" * times + b"y",
        lambda times: b"<<<<<<< a\n" * times + b"=======\n>>>>>> b\n>>>>>>>  c",
        lambda times: head("tags: " + "[" * times),
        lambda times: head("k: v\n" * times),
        lambda times: head("tags: [" + "'#'," * times + "]"),
        lambda times: head("title: 1" + ":59" * times),
    ],
    ids=lambda data: str(data(2)),
)
def test_a_hostile_file_takes_no_longer_than_its_length(data: Callable[[int], bytes]) -> None:
    assert grows_evenly(data, verdict)


def test_a_file_named_in_letters_that_ids_do_not_have_gets_a_lasting_id_of_its_own() -> None:
    first, again, other = (
        parse(b"x", path=f"{stem}.md", kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED).id
        for stem in ("日本語", "日本語", "日本")
    )
    assert first == again != other
    assert first.startswith("memory-")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("会议 1", "设计 1"),
        ("🎉 plan", "🎈 plan"),
        ("Straße", "Strae"),
        ("a" * 61, "a" * 62),
        ("ab " * 21, "ab " * 22),
    ],
)
def test_names_that_differ_only_in_what_an_id_cannot_hold_get_ids_of_their_own(one: str, other: str) -> None:
    ids = {
        parse(b"x", path=f"{stem.strip()}.md", kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED).id
        for stem in (one, other)
    }
    assert len(ids) == 2
    assert all(ID.fullmatch(memory_id) for memory_id in ids)


@pytest.mark.parametrize(
    ("stem", "expected"),
    [("My notes (2)", "my-notes-2"), ("a" * 60, "a" * 60), ("Café", "cafe"), ("C++", "c")],
)
def test_a_name_that_an_id_can_hold_is_the_id(stem: str, expected: str) -> None:
    memory = parse(b"x", path=f"{stem}.md", kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED)
    assert memory.id == expected


def test_both_ways_of_writing_an_accent_in_a_file_name_give_the_same_id() -> None:
    composed, decomposed = (
        parse(b"x", path=f"{stem}.md", kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED).id
        for stem in ("\u30d0", "\u30cf\u3099")
    )
    assert composed == decomposed


def test_a_file_name_that_is_not_text_still_gives_a_title() -> None:
    memory = parse(b"x", path="\udcff.md", kind=Kind.KNOWLEDGE, archived=False, modified=MODIFIED)
    assert memory.title == "Untitled"
