"""The graph's tools as two sessions use them: two servers on one store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from tests.conftest import Open
from tests.doors.called import connected
from tests.doors.shell import Run, output_of
from tests.live import parameters, tools
from tests.recorded import Recorded

Call = tuple[str, str, dict[str, Any]]
A, B = "aaaaaaaa-1111-2222", "bbbbbbbb-3333-4444"


@pytest.fixture
def talk(open_here: Open, scratch_home: Path, project: Path) -> Callable[..., list[str]]:
    """Let the sessions a and b call tools in turn, each by a server of its own; return the answers."""

    def talking(*calls: Call) -> list[str]:
        answers: list[str] = []
        for session in (A, B):
            Recorded(scratch_home / ".claude" / "projects" / "shop", cwd=project, session=session).user("Go.")

        with (
            connected(open_here(CLAUDE_CODE_SESSION_ID=A)) as first,
            connected(open_here(CLAUDE_CODE_SESSION_ID=B)) as second,
        ):
            for who, name, arguments in calls:
                call = first if who == "a" else second
                text = call(name, **arguments)
                answers.append(f"error: {text}" if call.failed else text)
        return answers

    return talking


def put_call(who: str, id: str, gist: str, **more: object) -> Call:
    return who, "kg_put_node", {"level": "project", "id": id, "gist": gist, **more}


def edge(who: str, start: str, end: str, rel: str, **more: object) -> Call:
    return who, "kg_put_edge", {"level": "project", "from": start, "to": end, "rel": rel, **more}


@pytest.mark.feature("C-33")
def test_the_tools_have_the_parameters_of_the_plugin_that_they_follow() -> None:
    parameters_of = {name: list(parameters(name)) for name in tools("graph") if name[:3] == "kg_"}

    assert parameters_of == {
        "kg_read": [],
        "kg_register_session": [],
        "kg_sync": ["session_id"],
        "kg_put_node": ["level", "id", "gist", "touches", "notes", "session_id"],
        "kg_put_edge": ["level", "from", "to", "rel", "notes", "session_id"],
        "kg_delete_node": ["level", "id"],
        "kg_delete_edge": ["level", "from", "to", "rel"],
        "kg_recall": ["level", "id", "session_id"],
        "kg_ping": [],
    }


@pytest.mark.feature("C-06", "C-13", "C-30")
def test_one_session_sees_what_another_wrote(talk: Callable[..., list[str]]) -> None:
    answers = talk(
        ("a", "kg_read", {}),
        ("a", "kg_register_session", {}),
        ("b", "kg_register_session", {}),
        ("a", "kg_register_session", {}),
        put_call(
            "a", "auth-flow", "JWT is checked in the middleware", touches="src/auth.ts:4", notes="one, note"
        ),
        put_call("a", "session-store", "Sessions live in redis"),
        edge("a", "auth-flow", "session-store", "depends-on", notes=["a day, at most"]),
        ("b", "kg_sync", {"session_id": "bbbbbbbb"}),
        ("b", "kg_sync", {"session_id": "bbbbbbbb"}),
        ("a", "kg_sync", {"session_id": "aaaaaaaa"}),
        ("b", "kg_read", {}),
        ("b", "kg_ping", {}),
    )

    assert answers[0].startswith("The graph is empty.")
    assert answers[1:4] == ["aaaaaaaa", "bbbbbbbb", "aaaaaaaa"]
    assert answers[4] == "auth-flow: added (project level)."
    assert answers[6] == "auth-flow --depends-on--> session-store: added (project level)."
    assert answers[7].startswith("2 changes by others:\n")
    assert (
        "- auth-flow: JWT is checked in the middleware [project, by session aaaaaaaa, 2026-11-20 09:12 UTC]\n"
        "  touches: src/auth.ts:4\n"
        "  note: one, note\n"
        "  - auth-flow --depends-on--> session-store: a day, at most"
    ) in answers[7]
    assert answers[8] == answers[9] == "No other session changed anything."
    assert (
        "project level: 2 nodes, 1 edge, 0 memory traces\n- auth-flow: JWT is checked in the middleware\n"
    ) in answers[10]
    assert answers[11] == (
        "ok\nuser level: 0 nodes, 0 edges, 0 memory traces\n"
        "project level: 2 nodes, 1 edge, 0 memory traces\nactive sessions: 2"
    )


@pytest.mark.feature("3.3-last-write")
def test_when_both_write_one_node_each_is_told_both_versions(talk: Callable[..., list[str]]) -> None:
    answers = talk(
        ("a", "kg_register_session", {}),
        ("b", "kg_register_session", {}),
        put_call("a", "n", "said by a", session_id="aaaaaaaa"),
        put_call("b", "n", "said by b", session_id="bbbbbbbb"),
        put_call("a", "n", "said by a again"),
    )

    assert answers[3].split("\n")[1:] == [
        "session aaaaaaaa had changed it at 2026-11-20 09:12 UTC, and you had not seen that:",
        "was: said by a",
        "now: said by b",
    ]
    assert "was: said by b\nnow: said by a again" in answers[4]


@pytest.mark.feature("C-03")
def test_every_tool_answers_with_what_became_of_it(talk: Callable[..., list[str]]) -> None:
    answers = talk(
        put_call("a", "n", "first"),
        put_call("a", "n", "second " + "x" * 400),
        edge("a", "n", "src/a.ts", "explains"),
        edge("a", "n", "src/a.ts", "explains", notes="now with a note"),
        ("a", "kg_delete_edge", {"level": "project", "from": "n", "to": "src/a.ts", "rel": "explains"}),
        ("a", "kg_delete_edge", {"level": "project", "from": "n", "to": "src/a.ts", "rel": "explains"}),
        ("a", "kg_recall", {"level": "project", "id": "n"}),
        ("a", "kg_delete_node", {"level": "project", "id": "n"}),
        ("a", "kg_delete_node", {"level": "project", "id": "n"}),
        ("a", "restore_memory", {"id": "n"}),
        put_call("a", "m", "gist", session_id="nobody00"),
        ("a", "kg_sync", {"session_id": "nobody00"}),
        put_call("a", "Not An Id", "gist"),
    )

    assert (
        "updated (project level).\nThe gist has 407 characters; at most 300 are easier to read" in answers[1]
    )
    assert answers[2].endswith("added (project level).")
    assert answers[3].endswith("updated (project level).")
    assert answers[4].endswith(": deleted.")
    assert answers[5].endswith("no such edge; nothing was deleted.")
    assert answers[6].startswith("error: 'n' is active, not archived.")
    assert answers[7] == "n: deleted; restore_memory brings the node back."
    assert answers[8].startswith("error: No memory has the id 'n'.")
    assert answers[9].startswith("n: restored.")
    assert answers[10].startswith("m: added (project level). No session is registered as 'nobody00'")
    assert answers[11].startswith("error: No session is registered as 'nobody00'. Call kg_register_session")
    assert answers[12].startswith("error: 'Not An Id' is not an id.")


@pytest.mark.feature("C-22")
def test_an_answer_never_exceeds_what_a_tool_may_say(talk: Callable[..., list[str]], open_here: Open) -> None:
    many = [put_call("a", f"node-{at}", f"{at} " + "word " * 150) for at in range(60)]
    user = [(who, name, {**arguments, "level": "user"}) for who, name, arguments in many]

    answers = talk(("b", "kg_register_session", {}), *many, *user, ("a", "kg_read", {}),
                ("b", "kg_sync", {"session_id": "bbbbbbbb"}))  # fmt: skip

    levels = answers[-2].split("\n\n")
    assert [len(level) <= 20_000 for level in levels] == [True, True]
    assert 36_000 < len(answers[-2]) <= 40_000
    assert answers[-2].count("more did not fit") == 2
    assert len(answers[-1]) <= 8000
    assert "more did not fit; read_memory shows them: node-" in answers[-1]


def test_the_command_line_shows_the_graph_as_text_picture_and_json(
    talk: Callable[..., list[str]], open_here: Open, run: Run, project: Path
) -> None:
    def graph(*words: str) -> str:
        return output_of(run("graph", *words))

    assert graph().startswith("The graph is empty")
    talk(put_call("a", "n", "says"), edge("a", "n", "src/a.ts", "explains"), put_call("a", "lone", "alone"))
    remember(open_here().store(), Draft("Plain", "text"))

    assert "- n --explains--> src/a.ts" in graph()
    assert "level" not in graph("--level", "user").replace("user level", "")
    assert '"rel": "explains"' in graph("--json")
    assert graph("--mermaid").startswith("flowchart LR\n")
    assert graph("--svg").startswith("<svg xmlns=")
    assert graph("--svg", "g.svg") == "Drawn into g.svg\n"
    assert (project / "g.svg").read_text("utf-8") == graph("--svg")
    assert graph("--mermaid", "g.mmd") == "Drawn into g.mmd\n"
    assert (project / "g.mmd").read_text("utf-8").startswith("flowchart LR\n")


def test_the_own_puts_of_a_session_that_no_hook_named_are_no_news(
    open_here: Open,
) -> None:
    with connected(open_here(CLAUDE_CODE_SESSION_ID="")) as call:
        short = call("kg_register_session")
        call("kg_put_node", level="project", id="own", gist="what I put")
        answer = call("kg_sync", session_id=short)

    assert "own" not in answer
