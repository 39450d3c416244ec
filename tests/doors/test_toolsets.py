"""The sets of tools: each has the agreed names, and DAYBOOK_TOOLSETS chooses which are offered."""

import pytest

from mcp_server.core.errors import SettingsError
from mcp_server.core.settings import TOOLSETS, parse_settings
from tests.live import tools

AGREED = {
    "core": (
        "remember recall read_memory revise forget restore_memory list_memories get_stats search_knowledge"
    ),
    "sessions": (
        "save_session restore_session save_conversation load_conversation get_sessions get_session"
        " get_session_memories set_session_topic summarize_session end_session cross_session_patterns"
        " forget_session"
    ),
    "curation": (
        "ask next_transcript_chunk submit_candidates review_candidates approve_candidate reject_candidate"
        " consolidate"
        " pin unpin promote demote hot_cache_status access_patterns predict_next"
        " validate_memory invalidate_memory get_trust_history mark_memory_used retrieval_quality_stats"
        " log_output run_mining mining_status"
        " link_memories unlink_memories get_related"
        " find_contradictions get_contradictions mark_contradiction resolve_contradiction"
        " seed_from_text seed_from_file bootstrap_project"
    ),
    "graph": (
        "kg_read kg_register_session kg_sync kg_put_node kg_put_edge kg_delete_node kg_delete_edge kg_recall"
        " kg_ping"
    ),
    "admin": "db_maintenance run_cleanup audit_history metrics_status embedding_info",
}


def test_every_set_is_agreed_on() -> None:
    assert AGREED.keys() == set(TOOLSETS)


@pytest.mark.parametrize("name", TOOLSETS)
def test_a_set_holds_its_tools_beside_the_core(name: str) -> None:
    offered = {*AGREED["core"].split(), *AGREED[name].split()}

    assert tools(name).keys() == offered


def test_all_sets_are_offered_unless_some_are_chosen() -> None:
    everything = {name for named in AGREED.values() for name in named.split()}

    assert tools().keys() == everything
    assert parse_settings({"DAYBOOK_TOOLSETS": "graph, admin"}, {}).toolsets == ("core", "graph", "admin")


def test_an_unknown_set_is_named_with_those_that_there_are() -> None:
    with pytest.raises(SettingsError, match="'grahp'") as refused:
        parse_settings({"DAYBOOK_TOOLSETS": "core grahp"}, {})

    assert refused.value.hint == "Use some of: core sessions curation graph admin."
