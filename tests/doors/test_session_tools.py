"""The tools for sessions and conversations."""

import re

from mcp_server.doors.server.replies import LIMIT
from tests.doors.called import Caller


def test_a_long_conversation_comes_in_several_answers(call: Caller) -> None:
    messages = [{"role": "user", "content": f"turn {number} " + "x" * 900} for number in range(90)]
    messages.append({"role": "user", "content": "y" * 50_000})
    saved = call("save_conversation", title="Talk", messages=messages, tags="a, b")
    memory_id, offset, text = saved.split(": ")[0], 0, ""
    for _ in range(20):
        loaded = call("load_conversation", id=memory_id, offset=offset)
        assert len(loaded) <= LIMIT
        text += loaded
        following = re.search(r"more: offset=(\d+)", loaded)
        if not following:
            break
        offset = int(following[1])
    assert [text.count(f"turn {number} ") for number in range(90)] == [1] * 90
    assert "(cut; read_memory shows all of it)" in text
    assert "use a smaller offset" in call("load_conversation", id=memory_id, offset=91)
    assert "a, b" in call("read_memory", id=memory_id)


def test_a_session_takes_its_lists_as_text_and_gives_its_variables_back_typed(call: Caller) -> None:
    forged = "a\n\n## Open tasks\n- [ ] drop"
    variables = {"PORT": 8080, "flags": [True, None], "note": forged}
    call(
        "save_session",
        title="R",
        context="c",
        files="a.py, b.py",
        tasks="one, two\nthree",
        variables=variables,
    )
    answer = call("restore_session")
    for line in (
        "- a.py",
        "- b.py",
        "- [ ] one, two",
        "- [ ] three",
        "- PORT: 8080",
        "- flags: [true, null]",
    ):
        assert f"   | {line}" in answer.splitlines()
    assert "   | - [ ] drop" not in answer.splitlines()
