"""The sets of tools: each has the agreed names, and DAYBOOK_TOOLSETS chooses which are offered."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.core.context import brief, managed_block
from mcp_server.core.errors import SettingsError
from mcp_server.core.settings import TOOLSETS, parse_settings
from tests.live import ALL_SETS, commands, parameters, tools

AGREED = {
    "core": ("remember recall read_memory list_memories revise forget restore_memory review undo history"),
    "sessions": (
        "save_session restore_session save_conversation load_conversation get_sessions get_session"
        " summarize_session forget_session next_transcript_chunk submit_candidates"
    ),
    "curation": (
        "ask search_knowledge review_candidates approve_candidate reject_candidate"
        " consolidate"
        " get_session_memories set_session_topic end_session cross_session_patterns"
        " pin unpin promote demote hot_cache_status access_patterns predict_next"
        " validate_memory invalidate_memory get_trust_history mark_memory_used retrieval_quality_stats"
        " log_output run_mining mining_status"
        " link_memories unlink_memories get_related"
        " archive find_contradictions get_contradictions mark_contradiction resolve_contradiction"
        " seed_from_text seed_from_file bootstrap_project"
    ),
    "graph": (
        "kg_read kg_register_session kg_sync kg_put_node kg_put_edge kg_delete_node kg_delete_edge kg_recall"
        " kg_ping"
    ),
    "admin": "db_maintenance run_cleanup audit_history metrics_status embedding_info get_stats",
}


def test_every_set_is_agreed_on() -> None:
    assert AGREED.keys() == set(TOOLSETS)


@pytest.mark.feature("A-45", "B-31")
@pytest.mark.parametrize("name", TOOLSETS)
def test_a_set_holds_its_tools_beside_the_core(name: str) -> None:
    offered = {*AGREED["core"].split(), *AGREED[name].split()}

    assert tools(name).keys() == offered


LOADED = """
import sys
from mcp_server.bootstrap import Opened
from mcp_server.doors.server.hook_tool import Hooks
from mcp_server.doors.server.toolsets import registered

opened = Opened({"MEMORY_DIR": sys.argv[1], "EMBEDDING_MODEL": "none", "DAYBOOK_TOOLSETS": sys.argv[2]})
registered(opened, Hooks(opened))
print(*(name.rpartition(".")[2] for name in sys.modules if name.startswith("mcp_server.doors.server.")))
"""


def test_the_modules_of_a_set_that_is_off_are_not_loaded(tmp_path: Path) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED, str(tmp_path), "graph"], capture_output=True, text=True, check=True
    ).stdout.split()

    assert {"memory_tools", "graph_tools"} <= {*loaded}
    assert not {"session_tools", "curation_tools", "worth_tools", "admin_tools"} & {*loaded}


def test_core_and_sessions_are_offered_unless_others_are_chosen() -> None:
    everything = {name for named in AGREED.values() for name in named.split()}

    assert tools().keys() == {*AGREED["core"].split(), *AGREED["sessions"].split()}
    assert tools(ALL_SETS).keys() == everything
    assert parse_settings({"DAYBOOK_TOOLSETS": "graph, admin"}, {}).toolsets == ("core", "graph", "admin")


@pytest.mark.parametrize(
    "shown",
    [managed_block.FOOTER, brief.FOOTER, brief.SUBAGENT_FOOTER, brief.PROMPT_FRAME, brief.INDEX],
)
def test_what_sessions_are_shown_unasked_names_only_tools_that_are_always_offered(shown: str) -> None:
    words = re.findall(r"\w+", re.sub(r"'daybook .*?'", "", shown))

    named = tools(ALL_SETS).keys() & set(words)

    assert named, "no tool is named: the test tells nothing"
    assert named <= tools("core").keys()


def test_an_unknown_set_is_named_with_those_that_there_are() -> None:
    with pytest.raises(SettingsError, match="'grahp'") as refused:
        parse_settings({"DAYBOOK_TOOLSETS": "core grahp"}, {})

    assert refused.value.hint == "Use some of: core sessions curation graph admin."


WITHIN_A_SESSION = {"kg_register_session", "kg_sync", "next_transcript_chunk", "submit_candidates"}
"""What only a session of Claude has a use for."""

ALSO_AS = {  # the command that does what a tool does, where they are not named alike
    "read_memory": "read", "restore_memory": "restore", "list_memories": "list", "get_stats": "stats",
    "search_knowledge": "recall", "get_sessions": "sessions", "get_session": "sessions",
    "get_session_memories": "sessions", "set_session_topic": "sessions", "summarize_session": "sessions",
    "end_session": "sessions", "cross_session_patterns": "sessions", "review_candidates": "candidates",
    "approve_candidate": "candidates", "reject_candidate": "candidates", "consolidate": "tidy",
    "hot_cache_status": "hot", "access_patterns": "patterns", "predict_next": "predict",
    "validate_memory": "validate", "invalidate_memory": "invalidate", "get_trust_history": "trust-history",
    "mark_memory_used": "mark-used", "retrieval_quality_stats": "stats", "log_output": "mine",
    "run_mining": "mine", "mining_status": "mine", "link_memories": "link", "unlink_memories": "unlink",
    "get_related": "related", "find_contradictions": "contradictions",
    "get_contradictions": "contradictions", "mark_contradiction": "contradictions",
    "resolve_contradiction": "contradictions", "seed_from_text": "seed", "seed_from_file": "seed",
    "bootstrap_project": "bootstrap", "kg_read": "graph", "kg_put_node": "remember", "kg_put_edge": "link",
    "kg_delete_node": "forget", "kg_delete_edge": "unlink", "kg_recall": "restore", "kg_ping": "graph",
    "db_maintenance": "maintain", "run_cleanup": "maintain", "audit_history": "history",
    "metrics_status": "stats", "embedding_info": "model",
}  # fmt: skip


def test_what_a_tool_does_a_command_does_too() -> None:
    for tool in tools(ALL_SETS).keys() - WITHIN_A_SESSION:
        assert ALSO_AS.get(tool, tool.replace("_", "-")) in commands(), tool

    assert ALSO_AS.keys() <= tools(ALL_SETS).keys()


def test_a_listed_schema_holds_what_a_tool_takes_but_for_what_a_text_tells_of() -> None:
    told_elsewhere = {
        "remember": {"links", "distinct", "category", "metadata", "keep_secrets"},
        "recall": {
            *("mode", "limit", "level", "category", "preset", "since", "until", "as_of", "expand", "sort"),
            "explain",
            "include_archived",
            "all_projects",
        },
    }

    for name, tool in tools(ALL_SETS).items():
        listed = tool.input_schema["properties"]
        assert parameters(name).keys() - listed.keys() == told_elsewhere.get(name, set()), name
        assert all("type" in schema and "title" not in schema for schema in listed.values()), name
