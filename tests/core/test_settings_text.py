"""One entry in and out of other programs' settings: all other bytes stay, whatever the file looks like."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.errors import Rejected
from mcp_server.core.exchange.settings_text import EMPTY, put_in, read, take_out

ENTRY = {"command": '/home/ada/ü "q"/bin/daybook', "args": ["serve"]}

JSON_FILES = [
    "{}",
    "{\n}\n",
    '{"theme":"dark"}',
    '{"theme": "dark", "mcpServers": {"github": {"command": "gh"}}}',
    '{\n  "theme": "dark"\n}\n',
    '{\n  "mcpServers": {}\n}\n',
    '{\n    "mcpServers": {\n        "github": {"command": "gh"},\n    },\n}',
    '{\n\t"a": 1,\n\t"mcpServers": {\n\t\t"github": {\n\t\t\t"command": "gh"\n\t\t}\n\t}\n}',
    '{\r\n  "a": 1,\r\n  "mcpServers": {\r\n    "x": {}\r\n  }\r\n}\r\n',
    '// mine\n{ // first\n  "a": "// no comment, {", /* "mcpServers": {} */\n  "mcpServers": { // servers\n'
    '    // "daybook": {},\n    "x": {"y": "}"} // last\n  }\n}\n// end\n',
    "{ /* nothing */ }",
    '\ufeff{"mcpServers": {"x": {}}}',
    '{"mcpServers": {\n  "x": {}}}',
    '{"a": "\\"mcpServers\\": {", "b": [{"mcpServers": {}}]}',
]
TOML_FILES = [
    "",
    'model = "o3"\n',
    'model = "o3"  # no line end',
    '[mcp_servers.github]\ncommand = "gh"\n\n# mine\n[profiles.a]\nmodel = "x"\n',
    "a = 1\r\n[mcp_servers]\r\n",
    "a = '''\n[mcp_servers.daybook]\n'''\n",
]


@pytest.mark.parametrize("text", JSON_FILES)
def test_an_entry_of_json_goes_in_and_out_and_not_a_byte_of_the_rest_changes(text: str) -> None:
    before = read(text, "json")
    after, piece = put_in(text, "json", "mcpServers", "daybook", ENTRY)

    assert len(after) == len(text) + len(piece)
    assert after.replace(piece, "", 1) == text
    assert read(after, "json")["mcpServers"] == {**before.get("mcpServers", {}), "daybook": ENTRY}
    assert {k: v for k, v in read(after, "json").items() if k != "mcpServers"} == {
        k: v for k, v in before.items() if k != "mcpServers"
    }
    assert take_out(after, "json", "mcpServers", "daybook", piece) == text


@pytest.mark.parametrize("text", TOML_FILES)
def test_an_entry_of_toml_goes_in_and_out_and_not_a_byte_of_the_rest_changes(text: str) -> None:
    after, piece = put_in(text, "toml", "mcp_servers", "daybook", ENTRY)

    assert after == text + piece
    assert tomllib.loads(after)["mcp_servers"]["daybook"] == ENTRY
    assert ("\r\n" in piece) == ("\r\n" in text)
    assert take_out(after, "toml", "mcp_servers", "daybook", piece) == text


def test_what_is_put_in_looks_like_what_is_around_it() -> None:
    text = '{\n    "a": 1,\n    "mcpServers": {\n        "x": {}\n    }\n}\n'
    after, _ = put_in(text, "json", "mcpServers", "daybook", {"command": "d", "args": ["serve"]})

    assert after == (
        '{\n    "a": 1,\n    "mcpServers": {\n        "daybook": {\n            "command": "d",\n'
        '            "args": [\n                "serve"\n            ]\n        },\n'
        '        "x": {}\n    }\n}\n'
    )


@pytest.mark.parametrize("indent", [None, 2, "\t"])
@pytest.mark.parametrize("others", [{}, {"github": {"command": "gh"}}])
@pytest.mark.parametrize("piece", [False, True])
def test_an_entry_that_another_program_wrote_anew_is_taken_out_all_the_same(
    indent: int | str | None, others: dict[str, object], piece: bool
) -> None:
    text = json.dumps({"a": 1, "mcpServers": others} if others else {"a": 1})
    after, piece_put = put_in(text, "json", "mcpServers", "daybook", ENTRY)
    settings = read(after, "json")
    settings["mcpServers"] = {**settings["mcpServers"], "added": {"command": "x"}}
    anew = json.dumps(settings, indent=indent)

    remaining = take_out(anew, "json", "mcpServers", "daybook", piece_put if piece else "")
    assert read(remaining, "json") == {"a": 1, "mcpServers": {**others, "added": {"command": "x"}}}


def test_comments_beside_an_entry_that_was_written_anew_stay() -> None:
    text = '{"mcpServers": {\n  "x": {}, // about x\n  // ours\n  "daybook": {"command": "d"} // here\n}}'

    remaining = take_out(text, "json", "mcpServers", "daybook", "")
    assert read(remaining, "json") == {"mcpServers": {"x": {}}}
    assert all(comment in remaining for comment in ("// about x", "// ours", "// here"))


@pytest.mark.parametrize(
    ("text", "form", "sentence"),
    [
        ('{"a": 1', "json", "It is not valid JSON"),
        ('{"a": 1} /* open', "json", "It is not valid JSON"),
        ("[1]", "json", "It is not a JSON object"),
        ("", "json", "It is not valid JSON"),
        ("[" * 100_000, "json", "nested too deeply"),
        ("{ /* nothing\n yet */ }", "json", "cannot be changed safely"),
        ('{"servers": []}', "json", "cannot hold another entry"),
        ('{"servers": {"daybook": 1}}', "json", "cannot hold another entry"),
        ('{"servers": {"a": 1}, "servers": {"b": 2}}', "json", "cannot be changed safely"),
        ("a = ", "toml", "It is not valid TOML"),
        ('servers = {a = {command = "x"}}', "toml", "cannot be changed safely"),
        ("servers = 5", "toml", "cannot hold another entry"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, form: str, sentence: str) -> None:
    with pytest.raises(Rejected, match=sentence):
        put_in(text, form, "servers", "daybook", ENTRY)  # type: ignore[arg-type]


def test_a_table_that_was_rewritten_is_left_to_the_person() -> None:
    with pytest.raises(Rejected, match="was rewritten"):
        take_out('[s.daybook]\ncommand="d"\n', "toml", "s", "daybook", '[s.daybook]\ncommand = "d"\n')


names = st.text(max_size=5) | st.sampled_from(["mcpServers", "//", "{", '"'])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(names.filter(lambda name: name != "mcpServers"), values, max_size=4),
    st.none() | st.dictionaries(names.filter(lambda name: name != "daybook"), values, max_size=3),
    st.sampled_from([None, 1, 2, "\t"]),
    st.booleans(),
)
def test_whatever_a_file_says_it_says_it_again_afterwards(
    others: dict[str, object], servers: dict[str, object] | None, indent: int | str | None, ascii_only: bool
) -> None:
    settings = others if servers is None else {**others, "mcpServers": servers}
    text = json.dumps(settings, indent=indent, ensure_ascii=ascii_only)
    after, piece = put_in(text, "json", "mcpServers", "daybook", ENTRY)

    assert read(after, "json") == {**settings, "mcpServers": {**(servers or {}), "daybook": ENTRY}}
    assert take_out(after, "json", "mcpServers", "daybook", piece) == text


def test_an_empty_file_is_as_good_as_one_that_says_nothing() -> None:
    for form in ("json", "toml"):
        assert read(EMPTY[form], form) == {}  # type: ignore[arg-type]
