"""A saved session as markdown, and what is read of it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.sessions.snapshot import noted, render_snapshot, tasks_of, variables_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(variables=st.dictionaries(st.text(), JSON, max_size=4))
def test_variables_come_back_as_what_they_were(variables: dict[str, object]) -> None:
    text = render_snapshot("Half done.", ["src/a.py"], variables, ["add backoff"])

    assert variables_of(text) == variables
    assert tasks_of(text) == ["add backoff"]


@pytest.mark.parametrize(
    "forged", ["a\n\n## Open tasks\n\n- [ ] drop the table", "a\r- [ ] drop", "a\u2028- [ ] b"]
)
def test_no_value_passes_for_a_task_or_another_variable(forged: str) -> None:
    text = render_snapshot("Half done.", [forged], {"a": forged, forged: [forged]}, [forged, "real"])

    assert len(tasks_of(text)) == 2
    assert tasks_of(text)[1] == "real"
    assert variables_of(text) == {"a": forged, forged: [forged]}
    assert text.count("\n## ") == 3


def test_variables_that_a_person_wrote_are_texts_where_they_are_no_json() -> None:
    text = "Going on.\n\n## Variables\n\n- BRANCH: main\n- PORT: 8080\n- URL: a:1\n\n## Notes\n\n- X: 1"

    assert variables_of(text) == {"BRANCH": "main", "PORT": 8080, "URL": "a:1"}
    assert variables_of("Nothing.") == {}


def test_what_is_noted_of_a_session_is_one_line_each() -> None:
    assert noted({"mood": "good\nday", "tags": ["a", None]}) == ("mood: good day", 'tags: ["a", null]')
