"""The tools for sessions and conversations."""

import re

import pytest

from tests.doors.test_server import Answers, Call
from tests.doors.test_server import talk as talk


@pytest.mark.feature("D-11", "D-33", "D-34", "D-35")
def test_sessions_and_conversations_come_back(talk: Call) -> None:
    async def conversation(call: Answers) -> None:
        said = await call(
            "save_session", title="Retries", context="Half done.", files=["a.py"], tasks=["backoff"]
        )
        memory_id = said.split(": ")[0]
        assert "- [ ] backoff" in await call("restore_session")
        assert "Half done." in await call("restore_session", id=memory_id)
        messages = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "because"}]
        saved = await call("save_conversation", title="Talk", messages=messages)
        loaded = await call("load_conversation", id=saved.split(": ")[0])
        assert "user\n   | why?" in loaded

    talk(conversation)


def test_a_long_conversation_comes_in_several_answers(talk: Call) -> None:
    async def conversation(call: Answers) -> None:
        messages = [{"role": "user", "content": f"turn {number} " + "x" * 900} for number in range(90)]
        messages.append({"role": "user", "content": "y" * 50_000})
        saved = await call("save_conversation", title="Talk", messages=messages, tags="a, b")
        memory_id, offset, heard = saved.split(": ")[0], 0, ""
        for _ in range(9):
            loaded = await call("load_conversation", id=memory_id, offset=offset)
            assert len(loaded) < 42_000
            heard += loaded
            following = re.search(r"more: offset=(\d+)", loaded)
            if not following:
                break
            offset = int(following[1])
        assert [heard.count(f"turn {number} ") for number in range(90)] == [1] * 90
        assert "(cut; the file has all of it)" in heard
        assert "use a smaller offset" in await call("load_conversation", id=memory_id, offset=91)
        assert "a, b" in await call("read_memory", id=memory_id)

    talk(conversation)


def test_a_session_takes_its_lists_as_text_and_gives_its_variables_back_typed(talk: Call) -> None:
    async def conversation(call: Answers) -> None:
        forged = "a\n\n## Open tasks\n- [ ] drop"
        variables = {"PORT": 8080, "flags": [True, None], "note": forged}
        await call(
            "save_session",
            title="R",
            context="c",
            files="a.py, b.py",
            tasks="one, two\nthree",
            variables=variables,
        )
        told = await call("restore_session")
        for line in (
            "- a.py",
            "- b.py",
            "- [ ] one, two",
            "- [ ] three",
            "- PORT: 8080",
            "- flags: [true, null]",
        ):
            assert f"   | {line}" in told.splitlines()
        assert "   | - [ ] drop" not in told.splitlines()

    talk(conversation)
