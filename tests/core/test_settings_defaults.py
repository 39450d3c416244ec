"""What holds where the person set nothing."""

import pytest

from mcp_server.core.settings import parse_settings


@pytest.mark.feature("A-50", "B-04", "B-08", "B-43", "C-17", "D-24", "D-28")
def test_the_defaults_are_the_agreed_ones() -> None:
    settings = parse_settings({}, {})

    assert (settings.daily_usd, settings.daily_calls, settings.daily_plan_calls) == (0.20, 60, 40)
    assert (settings.model_calls, settings.plan_calls, settings.capture) == (False, None, "auto")
    assert (settings.embedding_model, settings.auto_indexing) == ("minilm-l6", True)
    assert (settings.hot_cache_max_items, settings.toolsets) == (20, ("core", "sessions"))
    assert (settings.hot_after, settings.cold_after) == (3, 14)
    assert (settings.auto_archive_days, settings.max_memory_size_mb) == (90, 1000)
    assert (settings.kg_max_tokens, settings.orphan_grace_days) == (5000, 90)
