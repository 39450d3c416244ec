"""Which memories are listed and found, by tags, dates and categories, in every door."""

import json
from pathlib import Path

import pytest

from tests.doors.called import Caller
from tests.doors.shell import Run, output_of

NOTES = (
    ("Alpha", "a,c++", "work"),
    ("Beta", "b", "work"),
    ("Gamma", "a,b", "home"),
    ("Delta", "", ""),
)
LISTED = [
    ({"tags": "a"}, "Alpha Gamma"),
    ({"tags": "a,b"}, "Gamma"),
    ({"any_tags": "a,b"}, "Alpha Beta Gamma"),
    ({"any_tags": "C++,b"}, "Alpha Beta Gamma"),
    ({"tags": "a", "any_tags": "b,c"}, "Gamma"),
    ({"category": "work"}, "Alpha Beta"),
    ({"category": "work", "tags": "b"}, "Beta"),
    ({"since": "2026-11-22"}, "Alpha Beta"),
    ({"until": "2026-11-22"}, "Delta Gamma"),
    ({"since": "2026-11-20", "until": "2026-11-22"}, "Gamma"),
]


def dated(paths: list[str]) -> None:
    """Let the files say another day each, the first the latest."""
    for number, path in enumerate(map(Path, paths)):
        lines = path.read_text(encoding="utf-8").split("\n")
        day = ("2026-11-23", "2026-11-22", "2026-11-21", "2026-11-01")[number]
        path.write_text("\n".join(f"updated: {day}" if x.startswith("updated:") else x for x in lines))


def test_lists_and_answers_in_the_shell_take_the_same_filters(run: Run) -> None:
    stored = [
        json.loads(output_of(run("remember", f"{title} | About colours {title}.", "--tags", tags, "--json",
                            "--category", category, "--meta", "owner=ann")))["path"]
        for title, tags, category in NOTES
    ]  # fmt: skip
    dated(stored)

    for filters, expected in LISTED:
        options = [word for name, value in filters.items() for word in (f"--{name.replace('_', '-')}", value)]
        listed = json.loads(output_of(run("list", *options, "--json")))["memories"]
        recalled = json.loads(output_of(run("recall", "colours", *options, "--json")))["hits"]
        for rows in (listed, recalled):
            assert sorted(row["title"] for row in rows) == expected.split(), filters


def test_the_tools_take_the_same_filters(call: Caller) -> None:
    paths = [
        call("remember", title=title, content=f"About colours {title}.", tags=tags,
                    category=category, metadata={"owner": "ann"}).splitlines()[1]
        for title, tags, category in NOTES
    ]  # fmt: skip
    dated(paths)
    for filters, expected in LISTED:
        any_tags = filters.get("any_tags", "").replace(",", "|")
        arguments = {key: value for key, value in filters.items() if key != "any_tags"}
        arguments["tags"] = ",".join(filter(None, [filters.get("tags", ""), any_tags]))
        answers = [call("list_memories", **arguments)]
        if "category" not in filters:
            answers.append(call("recall", query="colours", **arguments))
        for answer in answers:
            titles = [title for title in ("Alpha", "Beta", "Delta", "Gamma") if title in answer]
            assert titles == expected.split(), (filters, answer)


def test_only_knowledge_has_a_type(run: Run, call: Caller) -> None:
    call("remember", title="Alpha", content="About colours.", type="note")
    call("save_session", title="Beta", context="About colours.")
    call("save_conversation", title="Gamma", messages=[{"role": "user", "content": "About colours."}])

    answers = [
        output_of(run("list", "--type", "note")),
        output_of(run("recall", "colours", "--type", "note")),
        call("list_memories", filter="note"),
        call("list_memories", type="note"),
        call("recall", query="colours", type="note"),
    ]
    for answer in answers:
        assert [title for title in ("Alpha", "Beta", "Gamma") if title in answer] == ["Alpha"], answer


def test_category_and_metadata_are_kept_in_the_file_and_revised(run: Run) -> None:
    stored = json.loads(
        output_of(
            run("remember", "Keys | Are in the safe.", "--meta", "owner=ann", "--meta", "room=4", "--json")
        )
    )
    output_of(run("revise", stored["id"], "--category", "house", "--meta", "owner=bob", "--meta", "room="))

    memory = json.loads(output_of(run("read", stored["id"], "--json")))

    assert (memory["category"], memory["notes"]) == ("house", ["owner: bob"])
    refused = run("revise", stored["id"], "--category", "graph")
    assert refused.returncode and "'graph' cannot be a category." in refused.stderr
    assert "has no '='" in run("revise", stored["id"], "--meta", "owner").stderr


def test_a_tool_sets_category_and_metadata(call: Caller) -> None:
    answer = call(
        "remember",
        title="Keys",
        content="In the safe.",
        category="house",
        metadata={"room": 4, "a": None},
    )
    memory_id = answer.split(": ")[0]
    call("revise", id=memory_id, metadata={"room": None, "owner": "bob"})
    revised = call("read_memory", id=memory_id)
    assert "category: house" in revised and "owner: bob" in revised and "room" not in revised
    call("revise", id=memory_id, category="")
    assert "category:" not in call("read_memory", id=memory_id)
    assert "cannot be a category" in call("remember", title="K", content="c", category="graph")


@pytest.mark.parametrize("name", ["metadata", "category"])
def test_no_secret_is_kept_beside_a_memory(call: Caller, name: str) -> None:
    token = "ghp_" + "k3J9xQ2mV7bT5nR8wL4cY6zD1fH0sG2pA9eU"

    value = {"key": token} if name == "metadata" else token
    assert "seems to contain" in call("remember", title="K", content="c", **{name: value})
