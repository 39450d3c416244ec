"""The server of a first start, as a process, with a stand-in for the launcher that is held at a gate."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.doors.waiting_room import NOT_YET
from tests.durability.served import eventually
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

LAUNCHER = f"""#!{sys.executable}
import json, sys
from pathlib import Path
if sys.argv[1] == "setup-environment":
    with open(Path(__file__).with_name("gate"), encoding="utf-8") as gate:
        sys.exit(gate.read() or 0)
heard = []
for line in sys.stdin:
    said = json.loads(line)
    heard.append(said["method"])
    if "id" in said:
        print(json.dumps({{"jsonrpc": "2.0", "id": said["id"], "result": {{"heard": heard}}}}), flush=True)
"""

Say = Callable[..., dict[str, Any]]
CLIENT = {"name": "test", "version": "0"}
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}


class Client:
    """One that speaks to the waiting room as Claude Code does."""

    def __init__(self, folder: Path, code: str = LAUNCHER) -> None:
        launcher = folder / "launcher"
        launcher.write_text(code, encoding="utf-8")
        launcher.chmod(0o755)
        self.gate = folder / "gate"
        os.mkfifo(self.gate)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-S", "-m", "mcp_server.doors.waiting_room", launcher],
            env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def write(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}))
        answer = self.read()
        assert answer["id"] == method
        return answer

    def greet(self) -> dict[str, Any]:
        answer = self.ask("initialize", **GREETING)
        self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return answer

    def end_set_up(self, problem: str = "") -> None:
        """Let the set-up end, badly when there is a *problem*."""
        self.gate.write_text(problem, encoding="utf-8")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    client = Client(tmp_path)
    yield client
    client.process.kill()
    gate = os.open(client.gate, os.O_RDWR)
    client.gate.unlink()  # a set-up that waits there goes on, one that comes later fails
    os.close(gate)
    with contextlib.suppress(BrokenPipeError), client.process:
        pass


def text(answer: dict[str, Any]) -> str:
    (block,) = answer["result"]["content"]
    return str(block["text"])


def test_the_first_greeting_is_answered_while_the_environment_is_being_made(client: Client) -> None:
    assert client.ask("server/discover")["error"]["code"] == -32601
    result = client.greet()["result"]

    assert (result["protocolVersion"], result["serverInfo"]["name"]) == ("2025-11-25", "daybook")
    assert result["capabilities"]["tools"] == {"listChanged": True}
    assert "being set up" in result["instructions"]
    assert [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]] == ["hook"]
    assert client.ask("ping")["result"] == {}


def test_a_hook_hears_nothing_and_a_call_that_it_is_too_early(client: Client) -> None:
    client.greet()

    assert text(client.ask("tools/call", name="hook", arguments={"event": "UserPromptSubmit"})) == "{}"
    early = client.ask("tools/call", name="remember", arguments={})
    assert (text(early), early["result"]["isError"]) == (NOT_YET, True)


@pytest.mark.parametrize("event", ["command", "pane", "act"])
def test_a_person_who_waits_for_the_answer_hears_that_it_is_too_early(client: Client, event: str) -> None:
    client.greet()

    answer = client.ask("tools/call", name="hook", arguments={"event": event, "given": {"name": "recall"}})

    content = json.loads(text(answer))
    assert (content["text"], content["notes"], answer["result"]["isError"]) == (NOT_YET, [NOT_YET], False)


def test_once_the_environment_is_there_the_server_answers_in_the_same_session(client: Client) -> None:
    client.greet()
    client.end_set_up()

    assert client.read()["method"] == "notifications/tools/list_changed"
    messages_heard = ["initialize", "notifications/initialized", "tools/list"]
    assert client.ask("tools/list")["result"] == {"heard": messages_heard}


def test_an_environment_that_is_there_before_the_greeting_is_no_hurry(client: Client) -> None:
    client.end_set_up()
    assert client.ask("initialize", **GREETING)["result"]["serverInfo"]["version"] == "setting-up"
    client.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    assert client.read()["method"] == "notifications/tools/list_changed"


def answer_after_set_up(client: Client) -> str:
    """What a call of a tool gets once the set-up has ended, be it well or not."""

    def answer() -> str:
        return text(client.ask("tools/call", name="recall", arguments={}))

    eventually(lambda: answer() != NOT_YET, "the set-up has ended")
    return answer()


def test_a_set_up_that_fails_is_told_with_its_reason(client: Client) -> None:
    client.greet()
    client.end_set_up("daybook: the disk is full.")

    answer_text = answer_after_set_up(client)
    assert answer_text == (
        "Daybook could not be set up, so nothing was done. Tell the person: the disk is full."
        " Then start a new session."
    )
    typed = json.loads(text(client.ask("tools/call", name="hook", arguments={"event": "command"})))
    assert typed["text"] == answer_text.replace("Tell the person: ", "")


def test_a_launcher_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    client = Client(tmp_path, "#!/nowhere/at/all\n")
    with client.process:
        client.greet()
        answer_text = answer_after_set_up(client)
        client.process.kill()

    assert "launcher cannot be run: No such file or directory." in answer_text


def test_what_is_no_message_is_refused_and_no_answer_is_answered(client: Client) -> None:
    for line in (
        "",
        '{"jsonrpc": "2.0", "id": 1, "result": {}}',
        '{"jsonrpc": "2.0", "method": "x", "params": 5}',
    ):
        client.write(line)
    for line, code in (("garbage", -32700), ("[]", -32600), ("7", -32600), ("[" * 100_000, -32700)):
        client.write(line)
        answer = client.read()
        assert (answer["id"], answer["error"]["code"]) == (None, code)

    assert client.ask("ping")["result"] == {}


@pytest.mark.parametrize("method", ["initialize", "tools/call", "ping"])
def test_what_is_given_oddly_is_refused_and_ends_nothing(client: Client, method: str) -> None:
    for params in ([1], "x", 5):
        client.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        answer = client.read()
        assert (answer["id"], answer["error"]["code"]) == (1, -32602)

    assert client.ask("ping")["result"] == {}


def test_the_server_hears_one_greeting_and_never_a_wrong_one(client: Client) -> None:
    client.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    assert client.ask("initialize", protocolVersion=7)["error"]["code"] == -32602
    client.ask("initialize", **GREETING)
    client.greet()
    client.end_set_up()

    assert client.read()["method"] == "notifications/tools/list_changed"
    messages_heard = ["initialize", "notifications/initialized", "tools/list"]
    assert client.ask("tools/list")["result"] == {"heard": messages_heard}


def test_it_ends_when_the_client_closes_the_pipe(client: Client) -> None:
    client.greet()
    assert client.process.stdin
    client.process.stdin.close()

    assert client.process.wait(PATIENCE) == 0
