"""What a prompt brings about when the module in the client tells of it: its context, and whose word it is."""

import re
from pathlib import Path

from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.sessions.quality import why
from mcp_server.actions.status.module_seen import ModuleSeen, module_seen
from mcp_server.core.search.query import Filter
from mcp_server.core.settings import KEPT
from mcp_server.doors.server.hook_tool import REFUSED
from mcp_server.doors.server.session import PERSONS
from mcp_server.store import Store
from tests.adapters.project.repositories import git
from tests.doors.called import Caller
from tests.live import ROOT, tools


def test_what_came_too_late_for_its_prompt_is_brought_again_and_what_was_told_is_not(
    call: Caller, store: Store
) -> None:
    said_so = "Remember that the stripe webhook needs the raw body."
    call("hook", event="UserPromptSubmit", session_id="s0", prompt=said_so)
    call("remember", title="Stripe webhook", content="Needs the raw body.", type="gotcha")
    hook = {
        "event": "UserPromptSubmit",
        "session_id": "s1",
        "prompt": "the stripe webhook has no raw body",
    }
    late, again = call("hook", **hook), call("hook", **hook)
    assert late == again != "{}"
    assert why(store) == []
    assert call("hook", event="Told", session_id="s1") == "{}"
    assert call("hook", event="Told", session_id="s1") == "{}"
    assert call("hook", **hook) == "{}"
    assert [(receipt.session, receipt.why) for receipt in why(store)] == [("s1", "prompt")]


def test_what_came_with_a_prompt_that_was_taken_back_comes_again(call: Caller) -> None:
    said_so = "Remember that the stripe webhook needs the raw body."
    call("hook", event="UserPromptSubmit", session_id="s0", prompt=said_so)
    call("remember", title="Stripe webhook", content="Needs the raw body.", type="gotcha")
    hook = {"event": "UserPromptSubmit", "prompt": "the stripe webhook has no raw body"}

    def sent(session: str) -> str:
        text = call("hook", **hook, session_id=session)
        call("hook", event="Told", session_id=session)
        return text

    first = sent("s1")
    call("hook", event="TakenBack", session_id="s1")
    assert sent("s1") == first != "{}"
    call("hook", event="Stop", session_id="s1")
    assert sent("s1") == "{}"

    call("hook", event="TakenBack", session_id="s1")  # nothing came with that prompt
    assert sent("s1") == "{}"
    assert sent("s2") == first
    call("hook", event="TakenBack", session_id="s2")
    call("hook", event="Begun", session_id="s1")
    assert sent("s1") == "{}"


def test_a_session_that_moved_into_another_project_is_told_once_that_its_memory_stays(
    call: Caller, project: Path, tmp_path: Path
) -> None:
    elsewhere, within = tmp_path / "cart", project / "src"
    elsewhere.mkdir()
    within.mkdir()
    git(project, "init", "-q")

    def told(root: Path) -> str:
        text = call("hook", event="UserPromptSubmit", session_id="s1", prompt="and now?", root=str(root))
        call("hook", event="Told", session_id="s1")
        return text

    assert [told(project), told(within)] == ["{}", "{}"]
    assert f"this session moved to {elsewhere}, but Daybook remembers and recalls for shop" in told(elsewhere)
    assert [told(elsewhere), told(project)] == ["{}", "{}"]


def test_a_prompt_that_is_not_the_persons_gives_nothing_their_word(
    call: Caller,
) -> None:
    words = "#remember that the stripe webhook needs the raw body."
    hook = {"event": "UserPromptSubmit", "session_id": "s1", "prompt": words}
    assert call("hook", **hook, origin="plugin") == "{}"
    stored = call("remember", title="Stripe webhook", content="Needs the raw body.")
    assert "source: assistant" in call("read_memory", id=stored.split(": ")[0])
    assert "Daybook has stored it" in call("hook", **hook, origin="composer")


def test_what_the_model_calls_as_if_it_were_the_module_does_nothing(call: Caller, store: Store) -> None:
    words = "#remember that the stripe webhook needs the raw body."
    by_the_model = {"claudecode/toolUseId": "toolu_01AbC"}
    for event in ("UserPromptSubmit", "Told", "Stop", "PreToolUse", "Begun", "command", "act"):
        given = {"name": "remember", "words": "A | b"}
        answer = call(
            "hook", meta=by_the_model, event=event, session_id="s2", prompt=words, module="9", given=given
        )
        assert answer == REFUSED
    stored = call("remember", title="Stripe webhook", content="Needs the raw body.")

    assert list_memories(store, Filter()).total == 1
    read = call("read_memory", id=stored.split(": ")[0])
    assert "source: assistant" in read and "session: s2" not in read
    assert module_seen(store.home) == ModuleSeen("")


def test_the_module_keeps_the_tools_from_claude_that_it_does_not_need() -> None:
    module = (ROOT / "hooks" / "daybook.tsx").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^const KEPT = \[\n(.*?)^\]", module, re.DOTALL | re.MULTILINE)
    named = [line.strip() for line in listed.splitlines()]

    assert named == [f"'mcp__plugin_daybook_daybook__{name}'," for name in KEPT]
    assert {*KEPT} <= {"hook", *tools()}
    assert not {"remember", "recall", "read_memory", "revise", "forget", "review"} & {*KEPT}


def test_the_module_knows_where_the_person_types() -> None:
    module = (ROOT / "hooks" / "daybook.tsx").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^const PERSONS: string\[\] = \[(.*)\]", module, re.MULTILINE)

    assert listed == ", ".join(f"'{kind}'" for kind in sorted(PERSONS))


def test_the_module_says_what_it_lacks(call: Caller, store: Store) -> None:
    assert call("hook", event="Begun") == "{}"
    assert module_seen(store.home) == ModuleSeen("")
    event = {"event": "UserPromptSubmit", "prompt": "hello"}
    call("hook", **event, module="2.1.340 commands pane")
    assert module_seen(store.home) == ModuleSeen("2.1.340", ("commands", "pane"))
    call("hook", **event, module="2.1.341")
    assert module_seen(store.home) == ModuleSeen("2.1.341")
