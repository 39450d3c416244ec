"""A path that holds a comma or a semicolon is given and shown at each door: semicolons part such paths."""

import json
import re

import pytest

from mcp_server.actions.files.read import read
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Link
from mcp_server.store import Store
from tests.doors.called import Caller
from tests.doors.module import Typed
from tests.doors.shell import Run, output_of

ONE, TWO = "src/[a,b].ts:4", "src/c.ts"
SHOWN = f"{ONE}; {TWO}"


@pytest.mark.parametrize("given", [SHOWN, [ONE, TWO]])
def test_a_tool_takes_them(call: Caller, store: Store, given: object) -> None:
    memory_id = call("remember", title="Kites", content="They need wind.", touches=given).partition(":")[0]

    def paths() -> tuple[str, ...]:
        return read(store, memory_id).memory.touches

    assert paths() == (ONE, TWO)
    assert f"\ntouches: {SHOWN}\n" in call("read_memory", id=memory_id)
    call("revise", id=memory_id, touches=[])
    call("revise", id=memory_id, touches=given, links=f"refines: {ONE}; {TWO}")
    assert paths() == (ONE, TWO)
    assert read(store, memory_id).memory.links == (Link("refines", ONE), Link("relates-to", TWO))


def test_a_tool_shows_a_path_that_holds_a_semicolon_as_it_is_given_back(call: Caller, store: Store) -> None:
    paths = ["src/a;b.ts", TWO]
    memory_id = call("remember", title="Kites", content="They need wind.", touches=paths).partition(":")[0]
    (shown,) = re.findall("\ntouches: (.*)\n", call("read_memory", id=memory_id))

    call("revise", id=memory_id, touches=shown)

    assert read(store, memory_id).memory.touches == (*paths,)


def test_a_tool_of_the_graph_and_of_sessions_takes_them(call: Caller, store: Store) -> None:
    call("kg_put_node", level="project", id="kites", gist="Kites need wind", touches=SHOWN)
    saved = call("save_session", title="Kites", context="They fly.", files=SHOWN).partition(":")[0]

    assert read(store, "kites").memory.touches == (ONE, TWO)
    assert ONE in read(store, saved).memory.text
    assert f"  touches: {SHOWN}\n" in call("kg_read") + "\n"


def test_a_terminal_takes_them(run: Run) -> None:
    told = json.loads(output_of(run("remember", "Kites | They need wind.", "--touches", SHOWN, "--json")))

    def paths() -> list[str]:
        return list(json.loads(output_of(run("read", told["id"], "--json")))["touches"])

    assert paths() == [ONE, TWO]
    output_of(run("revise", told["id"], "--touches", f"{ONE};"))
    assert paths() == [ONE]
    output_of(run("revise", told["id"], "--touches", r"src/a\;b.ts"))
    assert paths() == ["src/a;b.ts"]


def test_what_is_typed_in_a_session_takes_them(opened: Opened) -> None:
    reply = Typed(opened)(f"/remember Kites | They need wind. [touches: src/a,b.ts; {TWO}]")

    assert read(opened.store(), reply["text"].partition(":")[0]).memory.touches == ("src/a,b.ts", TWO)
