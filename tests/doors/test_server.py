"""The MCP tools, called by the real client of the protocol in the same process."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcp_server.core.render import QUOTE
from mcp_server.core.settings import HOOK_TOOL, PROPOSES
from mcp_server.doors.server import start
from mcp_server.doors.server.replies import LIMIT
from mcp_server.doors.shown.recall import NOTHING_HERE
from tests.doors.called import Caller


def test_two_tools_are_always_loaded_and_the_module_has_its_own(call: Caller) -> None:
    tools = {tool.name: tool for tool in call.wait_for(call.client.list_tools).tools}
    assert "hook" in tools  # the client calls none that is not listed
    always = {name for name, tool in tools.items() if (tool.meta or {}).get("anthropic/alwaysLoad")}
    assert always == {"remember", "recall"}
    assert all(tool.output_schema is None for tool in tools.values())
    assert (call("hook", event="Stop", of_a_newer_client=1)) == "{}"


@pytest.mark.feature("A-42", "D-08", "D-30", "D-31")
def test_a_memory_goes_in_and_comes_back_with_its_id_first(call: Caller) -> None:
    answer = call("remember", title="Webhook", content="Skip body parsing.", type="gotcha", tags=["stripe"])
    memory_id, path = answer.split(": ")[0], answer.splitlines()[1]
    assert Path(path).is_file()
    recalled = call("recall", query="body parsing")
    assert recalled.split("\n")[1].startswith(f"{memory_id} · gotcha · project · 2026-11-20")
    assert "   | Skip body parsing." in recalled
    read = call("read_memory", id=memory_id)
    assert read.startswith(f"{memory_id} · gotcha · active · version ")
    assert "tags: stripe" in read


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "Webhook | Skip body parsing."},
        {"content": "Webhook | Skip body parsing."},
        {"title": "Webhook", "content": "Skip body parsing.", "tags": "a, b", "type": "note"},
    ],
)
def test_a_memory_can_be_said_in_one_string(call: Caller, arguments: dict[str, Any]) -> None:
    answer = call("remember", **arguments)
    assert not call.failed, answer
    assert "title: Webhook\n" in call("read_memory", id=answer.split(": ")[0])


def test_what_is_all_title_is_said_once(call: Caller) -> None:
    call("remember", content="The turnstile opens at noon.")
    assert call("recall", query="turnstile noon").casefold().count("turnstile opens") == 1


@pytest.mark.feature("B-47")
def test_errors_say_what_to_do(call: Caller) -> None:
    for tool, arguments, sentence in (
        ("remember", {}, "A memory needs a title. Give one"),
        ("remember", {"title": "a", "content": "b", "type": "idea"}, "Use one of: architecture"),
        ("recall", {"query": "x", "limit": 0}, "Give a number from 1 to 50."),
        ("recall", {"query": "x", "mode": "magic"}, "Use keyword, semantic or hybrid."),
        ("recall", {"query": "x", "as_of": "yesterday"}, "Write it as 2026-11-20."),
        ("read_memory", {"id": "nope"}, "No memory has the id 'nope'. Find it with recall"),
        ("forget", {"id": "../../etc/passwd"}, "No memory has the id '../../etc/passwd'"),
        ("revise", {"id": "nope"}, "Nothing was given to change."),
        ("load_conversation", {"id": "nope"}, "No saved conversation has the id"),
        ("save_conversation", {"title": "t", "messages": []}, "at least one message"),
    ):
        answer = call(tool, **arguments)
        assert call.failed
        assert sentence in answer
        assert not answer.startswith("Error executing")


@pytest.mark.parametrize(
    ("tool", "arguments", "sentences"),
    [
        ("recall", {}, "The argument 'query' is missing: it takes a string."),
        ("recall", {"query": None}, "The argument 'query' cannot be null: it takes a string."),
        (
            "recall",
            {"query": "x", "limit": "many", "all_projects": "perhaps"},
            """The argument 'limit' cannot be "many": it takes a whole number."""
            """ The argument 'all_projects' cannot be "perhaps": it takes true or false.""",
        ),
        (
            "recall",
            {"query": "x", "limit": -1.5},
            "The argument 'limit' cannot be -1.5: it takes a whole number.",
        ),
        (
            "list_memories",
            {"kind": "size"},
            """The argument 'kind' cannot be "size": it takes one of knowledge, conversation, session.""",
        ),
        (
            "remember",
            {"title": "a", "content": "b", "level": "galaxy", "tags": ["x", None]},
            """The argument 'tags' cannot be ["x", null]: it takes a list of strings or a string."""
            """ The argument 'level' cannot be "galaxy": it takes one of user, team, project.""",
        ),
        ("link_memories", {"to": "x"}, "The argument 'from' is missing: it takes a string."),
        ("save_conversation", {"title": "t", "messages": "hello"}, "it takes a list."),
        ("read_memory", {"id": ["x" * 500]}, "xxx…: it takes a string."),
        ("recall", {"query": "x", "tag": "a"}, "This tool has no argument 'tag': did you mean 'tags'?"),
        (
            "read_memory",
            {"memory": "x"},
            "This tool has no argument 'memory': it takes id, offset."
            " The argument 'id' is missing: it takes a string.",
        ),
        ("kg_ping", {"x" * 500: 1}, "xxx…': it takes none."),
        (
            "link_memories",
            {"from_": "x", "to": "y"},
            "did you mean 'from'? The argument 'from' is missing: it takes a string.",
        ),
        ("reed_memory", {}, "Did you mean read_memory or restore_memory or remember?"),
        ("hoo", {}, "There is no tool 'hoo' here. DAYBOOK_TOOLSETS says which tools there are."),
    ],
)
def test_wrong_arguments_are_named_with_what_they_take(
    call: Caller, tool: str, arguments: dict[str, Any], sentences: str
) -> None:
    answer = call(tool, **arguments)
    assert call.failed
    assert answer.endswith(sentences)
    assert answer.startswith(("The argument '", "This tool has no argument '", "There is no tool '"))
    assert len(answer) < 300


@pytest.mark.feature("B-14")
def test_a_memory_is_revised_forgotten_and_restored(call: Caller) -> None:
    memory_id = call("remember", title="Deploys", content="From main.").split(": ")[0]
    version = call("read_memory", id=memory_id).split("version ")[1].split("\n")[0]
    assert "revised" in call("revise", id=memory_id, content="From release.", version=version)
    assert "changed since version" in call("revise", id=memory_id, content="x", version=version)
    assert "forgotten" in call("forget", id=memory_id)
    assert call("recall", query="release") == NOTHING_HERE
    assert "restored" in call("restore_memory", id=memory_id)
    assert "From release." in call("recall", query="release")
    assert "deleted for good" in call("forget", id=memory_id, forever=True)


@pytest.mark.feature("B-14", "D-32", "D-37", "D-38")
def test_lists_counts_and_knowledge_searches(call: Caller) -> None:
    assert call("list_memories") == "No memories."
    for number in range(3):
        call(
            "remember",
            title=f"Choice {number}",
            content="Because of cost.",
            type="decision",
            tags="money",
        )
    call("remember", title="Other", content="A note on cost.")
    assert call("list_memories", filter="decision").startswith("3 memories\n")
    assert call("list_memories", filter="money", limit=2).endswith("(1 more: offset=2)")
    assert call("list_memories", offset=-1) == "An offset of -1 cannot be used. Give 0 or more."
    counts = call("get_stats")
    assert "type decision: 3\ntype note: 1" in counts
    assert "Other" not in call("search_knowledge", query="cost", category="decision")


def test_a_prompt_hook_answers_with_context_or_nothing(call: Caller) -> None:
    said_so = "Remember that the stripe webhook needs the raw body."
    call("hook", event="UserPromptSubmit", session_id="s0", prompt=said_so)
    memory_id = (
        call("remember", title="Stripe webhook", content="Needs the raw body.", type="gotcha")
    ).split(": ")[0]
    hook = {"event": "UserPromptSubmit", "session_id": "s1"}
    answer = json.loads(call("hook", **hook, prompt="the stripe webhook has no raw body"))
    assert memory_id in answer["hookSpecificOutput"]["additionalContext"]
    assert call("hook", **hook, prompt="write me a poem about autumn") == "{}"
    assert call("hook", **hook, prompt="x" * 5_000_000) == "{}"
    allowed = json.loads(call("hook", event="PreToolUse"))
    assert allowed["hookSpecificOutput"]["permissionDecision"] == "allow"


def test_what_an_agent_proposes_runs_unasked_only_after_a_yes(call: Caller) -> None:
    assert call("hook", event="PreToolUse", tool=PROPOSES) == "{}"


def test_the_tool_of_the_hooks_takes_the_same_before_and_after_the_library_is_loaded() -> None:
    listed = json.loads((Path(start.__file__).parent / "listed.json").read_text(encoding="utf-8"))
    (hook,) = [tool for tool in listed["tools"]["core"] if tool["name"] == HOOK_TOOL]
    assert set(hook["inputSchema"]["properties"]) == start.HOOK_ARGUMENTS | {"given"}


def test_what_claude_stores_of_its_own_accord_is_marked_so(call: Caller) -> None:
    def source(**arguments: str) -> str:
        memory_id = call("remember", **arguments).split(": ")[0]
        return call("read_memory", id=memory_id).split("source: ")[1].split("\n")[0]

    call("hook", event="UserPromptSubmit", prompt="please fix the login page")
    assert source(title="Login", content="The page loads slowly because of fonts.") == "assistant"
    call("hook", event="UserPromptSubmit", prompt="our staging server is called heron and runs debian")
    assert source(title="Staging server", content="The staging server is called heron.") == "manual"
    call("hook", event="UserPromptSubmit", prompt="/daybook:remember what we settled")
    assert source(title="Queues", content="Jobs are retried thrice.") == "manual"


@pytest.mark.feature("B-31")
def test_answers_stay_below_eight_thousand_characters(call: Caller) -> None:
    for number in range(20):
        content = f"webhook topic{'abcdefghijklmnopqrst'[number]} " + "word " * 230
        call("remember", title=f"Long {number}", content=content)
    answer = call("recall", query="webhook", limit=20)
    assert 4000 < len(answer) <= 8000
    assert "more did not fit" in answer


@pytest.mark.feature("B-31")
@pytest.mark.parametrize(
    "line", ["word " * 12, "x" * 30_000, "", "| a | b |"], ids=["lines", "one", "blank", "table"]
)
def test_a_long_memory_is_read_on_until_all_of_it_was_shown(call: Caller, line: str) -> None:
    numbered = "\n".join(f"{number:04} {line}" for number in range(60_000 // (len(line) + 6)))
    answer = call("remember", title="Long", content=numbered)
    memory_id, shown, offset = answer.split(":")[0], "", 0
    for _ in range(40):
        answer = call("read_memory", id=memory_id, offset=offset)
        assert len(answer) <= LIMIT
        shown += "".join(part[len(QUOTE) :] for part in answer.splitlines() if part.startswith(QUOTE))
        following = re.search(r"more characters: read_memory with offset=(\d+)\)", answer)
        if not following:
            break
        offset = int(following[1])
    assert "".join(shown.split()) == "".join(numbered.split())
    assert "use a smaller offset" in call("read_memory", id=memory_id, offset=len(numbered))
