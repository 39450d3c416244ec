"""Occasions at the tools and in a terminal: each takes them, changes them, shows them and takes them away."""

import json
from pathlib import Path

from mcp_server.actions.files.read import read
from mcp_server.store import Store
from tests.doors.called import Caller
from tests.doors.shell import Run, output_of

WITH_COMMA, REPAIR = "fly a kite, or two", "repair the kite"


def test_a_tool_takes_a_list_or_a_text_and_leaves_them_alone_unless_they_are_given(
    call: Caller, store: Store
) -> None:
    answer = call("remember", title="Kites", content="They need wind.", use_when=[WITH_COMMA, REPAIR])
    memory_id = answer.partition(":")[0]

    def occasions() -> tuple[str, ...]:
        return read(store, memory_id).memory.use_when

    assert occasions() == (WITH_COMMA, REPAIR)
    shown = f"{WITH_COMMA}; {REPAIR}"
    assert f"\nuse when: {shown}\n" in call("read_memory", id=memory_id)
    call("revise", id=memory_id, use_when=[])
    call("revise", id=memory_id, use_when=shown)
    assert occasions() == (WITH_COMMA, REPAIR)
    assert call("recall", query="who can repair this").splitlines()[1].startswith(f"{memory_id} · ")
    call("revise", id=memory_id, tags=["toys"])
    assert occasions() == (WITH_COMMA, REPAIR)
    call("revise", id=memory_id, use_when=f"buy a kite, {REPAIR}")
    assert occasions() == ("buy a kite", REPAIR)
    call("revise", id=memory_id, use_when=[])
    assert occasions() == ()
    assert "use when" not in call("read_memory", id=memory_id)


def test_a_terminal_takes_them_between_commas_and_tells_what_became_of_them(run: Run) -> None:
    stored = run("remember", "Kites | They need wind.", "--use-when", f"{REPAIR}, таблицу добавить", "--json")
    told = json.loads(output_of(stored))

    def said() -> tuple[list[str], str]:
        """Return the occasions, and the last change of all in the history."""
        history = output_of(run("history", told["id"]))
        now = json.loads(output_of(run("read", told["id"], "--json")))["use_when"]
        return now, next((line.strip() for line in history.splitlines() if "use when" in line), "")

    assert said() == ([REPAIR, "таблицу добавить"], "")
    assert f"use_when:\n  - {REPAIR}\n" in Path(told["path"]).read_text(encoding="utf-8")
    output_of(run("revise", told["id"], "--use-when", "buy a kite"))
    assert said() == (["buy a kite"], f"use when -{REPAIR} -таблицу добавить +buy a kite")
    output_of(run("revise", told["id"], "--use-when", ""))
    assert said() == ([], "use when -buy a kite")
    output_of(run("undo", told["id"]))
    assert said()[0] == ["buy a kite"]
    output_of(run("revise", told["id"], "--use-when", f"{WITH_COMMA};"))
    assert said()[0] == [WITH_COMMA]
