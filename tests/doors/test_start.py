"""What the server answers before the protocol library is there: the same as the library, and much sooner."""

import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.core.settings import TOOLSETS
from mcp_server.doors.server.start import GREETED, LISTED, STATELESS, UNUSED
from tests.conftest import Open
from tests.doors.started import CLIENT, GREETING, Said, Server, call_of, messages
from tests.live import ROOT, built
from tests.machine import wait_until

META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


def requests_of(protocol: str) -> list[tuple[str, Said]]:
    """Return the method and the params of what is answered at the start of a session."""
    hook = ("tools/call", {"name": "hook", "arguments": {"event": "PreToolUse", "new": 1}})
    if protocol == GREETED:
        return [("initialize", GREETING), ("ping", {}), *((method, {}) for method in LISTS), hook]
    requests = [("server/discover", {}), *((method, {}) for method in LISTS), hook]
    return [(method, {**params, "_meta": META}) for method, params in requests]


def from_library(open_here: Open, protocol: str, toolsets: str) -> list[Said]:
    """Return the results that the library gives for what is asked."""
    server = built(open_here(DAYBOOK_TOOLSETS=toolsets))
    low = server._lowlevel_server
    results: list[Said] = []

    async def run() -> None:
        to, inbound = anyio.create_memory_object_stream[SessionMessage](99)
        outbound, answers = anyio.create_memory_object_stream[SessionMessage](99)
        async with to, inbound, outbound, answers, anyio.create_task_group() as group:
            group.start_soon(low.run, inbound, outbound, low.create_initialization_options())
            for message in messages(requests_of(protocol)):
                parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
                await to.send(SessionMessage(parsed))
                if "id" in message:
                    answer = (await answers.receive()).message
                    results.append(answer.model_dump(by_alias=True, exclude_none=True)["result"])
            to.close()

    anyio.run(run)
    return results


@pytest.fixture
def serve(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Server]:
    def started(**settings: str) -> Server:
        own = {"MEMORY_DIR": str(tmp_path / "memory"), "HOME": str(tmp_path), "EMBEDDING_MODEL": "none"}
        own["PYTHONPATH"] = str(ROOT)
        server = Server({**os.environ, **own, **settings}, tmp_path)
        request.addfinalizer(server.close)
        return server

    return started


def fatal(folder: Path, *packages: str) -> str:
    """Write *packages* whose import ends the process into *folder*; return the PYTHONPATH that finds them."""
    folder.mkdir(exist_ok=True)
    for name in packages:
        (folder / f"{name}.py").write_text("import os\nos._exit(9)\n", encoding="utf-8")
    return os.pathsep.join((str(folder), str(ROOT)))


def listed(open_here: Open) -> Said:
    """Return what `listed.json` has to say."""
    listing: Said = {"greeted": list(HANDSHAKE_PROTOCOL_VERSIONS), "tools": {}, "resources": {}}
    of_core = from_library(open_here, GREETED, "core")
    for name in TOOLSETS:
        answers = from_library(open_here, GREETED, name)
        for at, kind in ((2, "tools"), (3, "resources")):
            before = [] if name == "core" else of_core[at][kind]
            listing[kind][name] = [offered for offered in answers[at][kind] if offered not in before]
    for protocol in (GREETED, STATELESS):
        results = zip(requests_of(protocol), from_library(open_here, protocol, "core"), strict=True)
        listing[protocol] = {method: bare(result) for (method, _), result in results}
    return listing


def bare(result: Said) -> Said:
    emptied = {name: [] for name in ("tools", "resources") if name in result}
    kept_fields = ("content", "protocolVersion")  # what depends on the request
    return {name: content for name, content in {**result, **emptied}.items() if name not in kept_fields}


def test_what_is_listed_is_what_the_library_would_say(open_here: Open) -> None:
    expected = json.dumps(listed(open_here), indent=1) + "\n"
    if os.environ.get("UPDATE"):
        LISTED.write_text(expected, encoding="utf-8")
    assert LISTED.read_text(encoding="utf-8") == expected, "UPDATE=1 makes listed.json anew"


@pytest.mark.parametrize("protocol", [GREETED, STATELESS])
@pytest.mark.parametrize("toolsets", ["core", "core curation", "core sessions curation graph admin"])
def test_it_answers_as_the_library_does_and_loads_nothing(
    open_here: Open, serve: Callable[..., Server], protocol: str, toolsets: str
) -> None:
    server = serve(DAYBOOK_TOOLSETS=toolsets)
    answers = server.results(requests_of(protocol)[:-1])
    if sys.platform == "linux":
        assert server.loaded() == set()
    assert [*answers, *server.results(requests_of(protocol)[-1:])] == from_library(
        open_here, protocol, toolsets
    )


def test_no_client_is_offered_a_subscription_which_would_need_the_library_at_once(
    serve: Callable[..., Server],
) -> None:
    (discovered,) = serve().results([("server/discover", {"_meta": META})])

    assert discovered["capabilities"].keys() == {"prompts", "resources", "tools"}
    assert {
        offered for capability in discovered["capabilities"].values() for offered in capability.values()
    } == {False}


@pytest.mark.parametrize("protocol", [GREETED, STATELESS])
def test_a_prompt_gets_its_memory_before_the_library_and_the_next_call_is_answered_by_it(
    open_here: Open,
    serve: Callable[..., Server],
    memory_dir: Path,
    project: Path,
    protocol: str,
) -> None:
    words = "The billing service retries a failed webhook eleven times"
    remember(open_here(EMBEDDING_MODEL="none").store(), Draft(words, f"{words}."))
    common = {"_meta": META} if protocol == STATELESS else {}
    prompt = {"event": "UserPromptSubmit", "session_id": "one", "prompt": f"{words}, why?"}
    first = [("initialize", GREETING)] if protocol == GREETED else []
    first.append(("tools/call", {"name": "hook", "arguments": prompt, **common}))

    def is_told(server: Server) -> bool:
        context = json.loads(server.results(first)[-1]["content"][0]["text"])
        return "eleven times" in context.get("hookSpecificOutput", {}).get("additionalContext", "")

    place = {"MEMORY_DIR": str(memory_dir), "CLAUDE_PROJECT_DIR": str(project)}
    servers = (serve(EMBEDDING_MODEL="minilm-l6", **place) for _ in range(5))
    server = next(filter(is_told, servers))  # a busy machine may be too late for the first of them
    asked_for = {"name": "recall", "arguments": {"query": "webhook retries"}, **common}
    for _ in range(2):
        assert "eleven times" in server.results([("tools/call", asked_for)])[0]["content"][0]["text"]
    assert server.results([("tools/call", {**asked_for, "name": "hook", "arguments": prompt})])[0]["content"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process has opened")
@pytest.mark.parametrize("protocol", [GREETED, STATELESS])
def test_the_library_takes_over_as_soon_as_it_is_loaded_and_not_with_a_prompt_that_waits_for_it(
    serve: Callable[..., Server], protocol: str
) -> None:
    server = serve()
    common = {"_meta": META} if protocol == STATELESS else {}
    hook = ("tools/call", {"name": "hook", "arguments": {"event": "Begun"}, **common})
    server.results([("initialize", GREETING), hook] if protocol == GREETED else [hook])

    wait_until(server.runs_a_loop)

    assert server.results([hook])[0]["content"][0]["text"] == "{}"


@pytest.fixture
def held_library(tmp_path: Path) -> Iterator[Path]:
    """A folder for PYTHONPATH whose library waits until the test is over, and then cannot be loaded."""
    gate, library = tmp_path / "gate", tmp_path / "slow" / "mcp"
    library.mkdir(parents=True)
    waits = f"import fcntl\nfcntl.flock(open({str(gate)!r}), fcntl.LOCK_SH)\n"
    (library / "__init__.py").write_text(f"{waits}raise ImportError('it was let go')\n", encoding="utf-8")
    with gate.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield library.parent


def test_a_prompt_does_not_wait_for_what_only_the_library_answers(
    serve: Callable[..., Server], held_library: Path
) -> None:
    server = serve(PYTHONPATH=os.pathsep.join((str(held_library), str(ROOT))))
    server.results([("server/discover", {"_meta": META}), ("initialize", GREETING)])  # both, where it is late
    calls = {"recall": {"query": "webhooks"}, "hook": {"event": "UserPromptSubmit", "prompt": "go on"}}
    for name, arguments in calls.items():
        params = {"name": name, "arguments": arguments}
        server.tell({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params})

    assert server.hear()["id"] == "hook"


def test_no_model_is_loaded_beside_the_library_which_would_slow_prompts_down_twice(
    open_here: Open, serve: Callable[..., Server], memory_dir: Path, held_library: Path
) -> None:
    remember(open_here(EMBEDDING_MODEL="none").store(), Draft("Webhooks", "They are retried eleven times."))
    search_path = fatal(held_library, "numpy")
    server = serve(MEMORY_DIR=str(memory_dir), PYTHONPATH=search_path, EMBEDDING_MODEL="minilm-l6")
    prompt = {"event": "UserPromptSubmit", "session_id": "one", "prompt": "Why is a webhook retried?"}

    answers = server.results([("initialize", GREETING), *[call_of(prompt)] * 300])

    assert {answer["content"][0]["text"] for answer in answers[1:]} == {"{}"}


def test_the_first_prompt_is_answered_before_the_model_is_loaded_which_would_slow_it_down(
    open_here: Open, serve: Callable[..., Server], memory_dir: Path, tmp_path: Path
) -> None:
    remember(open_here(EMBEDDING_MODEL="none").store(), Draft("Webhooks", "They are retried eleven times."))
    search_path = fatal(tmp_path / "fatal", "numpy")
    server = serve(MEMORY_DIR=str(memory_dir), PYTHONPATH=search_path, EMBEDDING_MODEL="minilm-l6")
    prompt = {"event": "UserPromptSubmit", "session_id": "one", "prompt": "Why is a webhook retried?"}

    answer = server.results([("initialize", GREETING), call_of(prompt)])[-1]

    assert answer["content"][0]["text"] == "{}"
    server.ends()


def test_no_garbage_is_collected_until_all_code_is_loaded_which_would_take_longer_with_it(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    collections = tmp_path / "collections"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "sitecustomize.py").write_text(
        "import gc, sys\ndef note(phase, info):\n    if 'mcp_server.doors' in sys.modules:\n"
        f"        with open({str(collections)!r}, 'a') as file:\n"
        "            file.write('loaded ' if gc.get_freeze_count() else 'loading ')\n"
        "gc.callbacks.append(note)\n",
        encoding="utf-8",
    )
    server = serve(PYTHONPATH=os.pathsep.join((str(tmp_path / "notes"), str(ROOT))))
    server.results([("initialize", GREETING)])
    objects = call_of({"event": "Begun", "given": {"lists": [[]] * 9_000}})

    wait_until(lambda: server.results([objects]) and collections.exists())

    assert set(collections.read_text(encoding="utf-8").split()) == {"loaded"}


def test_what_is_odd_is_answered_by_the_library_that_loads_no_server_on_http_and_no_colours(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    server = serve(PYTHONPATH=fatal(tmp_path / "fatal", *UNUSED))
    server.results([("initialize", GREETING)])
    odd = {"name": "hook", "arguments": {"prompt": 5}}
    answer = server.ask({"jsonrpc": "2.0", "id": "odd", "method": "tools/call", "params": odd})
    assert answer["result"]["isError"]
