"""What is refused or waits, and sources that are broken or hostile."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.core.errors import Rejected
from mcp_server.store import Store
from tests.actions.imports.imported import items, mem, memories, only_import, outcomes, state, tree
from tests.importing import import_from


def test_secrets_empty_and_long_records_are_refused_with_the_reason(store: Store, project: Path) -> None:
    state(
        project / ".memory/state.json",
        mem(1, "The token is ghp_" + "a1B2" * 9),
        mem(2, " \n"),
        mem(3, "x" * 65_537),
        mem(4, "This one is fine."),
        {"type": "decision", "content": "no id"},
        mem(6, "[secret removed: a GitHub token]"),
    )

    items_by_key = items(import_from(store, "memory-mcp"))

    why = {key[-1]: item.why for key, item in items_by_key.items() if item.outcome is Outcome.REFUSED}
    assert "seems to contain" in why["1"]
    assert "needs text" in why["2"]
    assert "65,537" in why["3"]
    assert "nothing but a secret" in why["6"]
    assert items_by_key["memory 5"].why == "has no id"
    assert list(memories(store)) == ["This one is fine"]
    assert b"ghp_" not in b"".join(tree(store.home).values())


TOKEN = "ghp_" + "k3J9xQ2mV7bT5nR8wL4cY6zD1fH0sG2pA9eU"


@pytest.mark.parametrize("part", [{"notes": [f"with {TOKEN}"]}, {"rel": TOKEN}], ids=["notes", "label"])
def test_a_secret_in_an_edge_is_refused_too(store: Store, project: Path, part: dict[str, object]) -> None:
    edges = [{"from": "a", "to": "b", "rel": "uses", **part}]
    path = project / "graph.json"
    path.write_text(json.dumps({"nodes": {"a": {"gist": "one"}, "b": {"gist": "two"}}, "edges": edges}))

    refused = [item for item in only_import(import_from(store, "knowledge-graph", path)).items if item.why]

    assert "seems to contain" in refused[0].why
    assert TOKEN.encode().lower() not in b"".join(tree(store.home).values()).lower().replace(b"-", b"_")


ODD = st.text(max_size=60)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=ODD, tags=st.lists(ODD, max_size=25), kind=ODD, note=ODD, key=ODD)
def test_whatever_a_source_says_is_unchanged_the_next_time(
    store: Store, project: Path, content: str, tags: list[str], kind: str, note: str, key: str
) -> None:
    name = key or "n"
    node = {"gist": f"x{content}", "tags": tags, "type": kind, "notes": [note], "touches": [key]}
    edges = [{"from": name, "to": note, "rel": kind}]
    path = project / "graph.json"
    path.write_text(json.dumps({"nodes": {name: node}, "edges": edges}), encoding="utf-8")

    first = [item.outcome for item in only_import(import_from(store, "knowledge-graph", path)).items]
    second = [item.outcome for item in only_import(import_from(store, "knowledge-graph", path)).items]
    node["gist"] = f"y{content}"
    path.write_text(json.dumps({"nodes": {name: node}, "edges": edges}), encoding="utf-8")
    third = [item.outcome for item in only_import(import_from(store, "knowledge-graph", path)).items]

    if first == [Outcome.REFUSED]:
        return
    assert second == [Outcome.UNCHANGED]
    assert third[0] in (Outcome.REVISED, Outcome.TAKEN, Outcome.MERGED)


@pytest.mark.feature("3.3-broken-graph")
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'{"memories": [', "broken JSON"),
        (b"[1, 2]", "no JSON object"),
        (b'{"memories": {"a": 1}}', "no list of memories"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b'{"memories": ' + b"[" * 200_000, "nested too deeply"),
        (b"", "broken JSON"),
    ],
)
def test_a_broken_source_is_refused_with_one_sentence_and_left_as_it_is(
    store: Store, project: Path, content: bytes, sentence: str
) -> None:
    path = project / "state.json"
    path.write_bytes(content)

    with pytest.raises(Rejected, match=sentence) as error:
        import_from(store, "memory-mcp", path)

    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
    assert path.read_bytes() == content
    assert memories(store) == {}


def test_a_source_over_the_limit_is_refused_unread(store: Store, project: Path) -> None:
    path = project / "state.json"
    with path.open("wb") as file:
        file.truncate(256 * 1024 * 1024 + 1)

    with pytest.raises(Rejected, match="268,435,456 is the limit"):
        import_from(store, "memory-mcp", path)


def test_wrong_types_everywhere_stop_nothing(store: Store, project: Path) -> None:
    odd = mem(
        1, "Odd but true.", type=7, tags={"a": 1}, created=[], updated=True, supersedes=3, mergedFrom="x"
    )
    state(project / "state.json", odd, 5, None, mem(2, 17), mem(3, "With \0 a NUL."))  # type: ignore[arg-type]

    outcome_of = outcomes(import_from(store, "memory-mcp", project / "state.json"))

    assert sorted(outcome_of.values()) == ["refused", "refused", "refused", "taken", "taken"]
    assert memories(store)["Odd but true"].type == "note"


def test_a_missing_source_is_one_clear_sentence(store: Store, project: Path) -> None:
    with pytest.raises(Rejected, match=r"There is no .*state\.json"):
        import_from(store, "memory-mcp")
    with pytest.raises(Rejected, match="There is no folder"):
        import_from(store, "notes", project / "nowhere")
    (project / "notes.zip").write_bytes(b"PK")
    with pytest.raises(Rejected, match="is a file, not a folder") as refused:
        import_from(store, "notes", project / "notes.zip")
    assert "unpack an archive first" in refused.value.hint
    with pytest.raises(Rejected, match="no usual place"):
        import_from(store, "memory-jsonl")
