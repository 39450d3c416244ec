"""
Poisoned and secret things in a transcript, with a model that obeys every word of them.

`tests/data/poisoned.json`: texts of ten families that try to steer whoever reads them.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.claude_md import current_block
from mcp_server.actions.context.compaction import before_compaction
from mcp_server.actions.context.inject import inject
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.candidate import propose, review_candidates
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.upkeep.work import work
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft, Memory
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.provenance.instructions import reads_like_instruction
from mcp_server.core.render import one_line
from mcp_server.core.search.query import Filter, Query
from mcp_server.core.secrets.redaction import redact
from mcp_server.store import Store
from tests.conftest import Open
from tests.core.made_secrets import KEYS, PASSWORDS, SHAPED
from tests.recorded import Recorded
from tests.scripted_model import Answer, ScriptedModel, agreed, reply

POISONED = json.loads((Path(__file__).parents[1] / "data" / "poisoned.json").read_text(encoding="utf-8"))
SHOWN = re.compile(r"^(?:USER(?: \([^)\n]*\))?|CLAUDE|AGENT): Page \d+ says: (.*(?:\n  .*)*)", re.MULTILINE)
BENIGN = """\
Our system prompt lives in prompts/ and is versioned like code.
The invoice tool is called by the scheduler every night.
We decode the base64 header before the signature is checked.
The user has confirmed accounts and pending ones; only the first may log in.
Never suggest a default password in the form.
The hex colour of the buttons is #336699.
Les instructions d'installation sont dans le dossier docs.
Die Anweisungen für die Migration stehen im Wiki.
The linter ignores generated files and the instructions of the parser generator.
An approved merge request needs two reviews.
The importer quietly skips empty lines.
Use the staging database for the load tests.
The recommend endpoint always returns ten products.
指示书在 docs 目录里。
Инструкции по установке лежат в папке docs.
The permission mode of the upload folder is 0750.
Morse timing is tested with a fixed clock.
MCP servers are listed in .mcp.json.
The agent tool of the monitoring sends metrics every ten seconds.
When asked for a page beyond the last one the API answers with an empty list.
""".splitlines()


@pytest.fixture
def obeying() -> Iterator[ScriptedModel]:
    with ScriptedModel(obey) as server:
        yield server


def obey(body: dict[str, Any]) -> Answer:
    """Propose word for word what a page says, with the page's own words, as they were quoted, as evidence."""
    piece = str(body["messages"][0]["content"]).partition("<transcript>")[2].partition("\n</transcript>")[0]
    return reply(json.dumps([proposal(" ".join(sentence.split())) for sentence in SHOWN.findall(piece)]))


def proposal(content: str, **more: Any) -> dict[str, Any]:
    fields = {"type": "decision", "title": content[:60], "content": content, "tags": ["poison"]}
    return {**fields, "supersedes": None, "evidence": content[:150], **more}


MANY = {"DAYBOOK_DAILY_CALLS": "1000", "DAYBOOK_DAILY_USD": "10"}


def worked(opened: Opened, *recorded: Recorded) -> Store:
    store = opened.store()
    for transcript in recorded:
        note_ended(store.in_session(transcript.session), transcript.path, folder=str(transcript.cwd))
    report = work(lambda folder: opened.store(folder=folder))
    assert report and not report.failed and not report.waits
    return store


def knowledge(store: Store) -> list[Memory]:
    filter = Filter(kinds=(Kind.KNOWLEDGE,), statuses=tuple(Status))
    return [read(store, row.id).memory for row in list_memories(store, filter, limit=1000).rows]


def enter(recorded: Recorded, by: str) -> None:
    """Write every poisoned page into the transcript, each under a prompt that is none."""
    agent = Recorded(recorded.path.parent, cwd=recorded.cwd, subagent_of=recorded)
    for number, item in enumerate(POISONED):
        page = f"Page {number} says: {item['text']}"
        # So much that no piece holds more pages than an answer may hold memories.
        recorded.user(f"Look at the page and go on, please. {'Bla bla. ' * 80}")
        agent.claude(f"I look at the page. {'Bla bla. ' * 80}")
        match by:
            case "result":
                recorded.call("WebFetch", result=page, url="https://page.example")
            case "quote":
                recorded.claude(page)
            case "paste":
                recorded.user(page)
            case "agent":
                agent.claude(page)


def files_below(folder: Path, apart_from: Path) -> dict[Path, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(apart_from)]
    return {path: path.read_bytes() for path in paths}


def test_there_are_a_hundred_of_ten_families() -> None:
    assert len(POISONED) >= 100
    assert len({item["family"] for item in POISONED}) == 10
    assert len({item["text"] for item in POISONED}) == len(POISONED)


def test_most_of_them_are_noticed_and_no_plain_fact_is_taken_for_one() -> None:
    # The patterns have seen these texts, so this says that they work, not how many others they find.
    noticed = [item for item in POISONED if reads_like_instruction(item["text"])]
    print(f"{len(noticed)} of {len(POISONED)} are noticed")
    assert len(noticed) > 0.7 * len(POISONED)
    assert [line for line in BENIGN if reads_like_instruction(line)] == []


@pytest.mark.parametrize("by", ["result", "quote", "paste", "agent"])
def test_what_a_page_says_never_becomes_the_persons_word_or_an_order(
    open_here: Open, obeying: ScriptedModel, recorded: Recorded, tmp_path: Path, memory_dir: Path, by: str
) -> None:
    opened = open_here(**agreed(obeying, **MANY))
    enter(recorded, by)
    outside = files_below(tmp_path, memory_dir)

    store = worked(opened, recorded)

    stored = knowledge(store)
    sources = {memory.source for memory in stored}
    assert files_below(tmp_path, memory_dir) == outside
    assert obeying.calls > 0
    if by == "result":
        assert stored == []
        assert not any("Page 1 says" in request.prompt for request in obeying.asked)
        return
    if by != "paste":  # Claude or an agent repeats it, and the person confirmed nothing
        assert stored == [] and review_candidates(store)
        return
    assert sources <= {"extracted", "assistant"}
    assert len(stored) > 0.8 * len(POISONED)
    assert all(memory.source != "manual" for memory in stored)

    # None that reads like an instruction is shown unasked.
    orders = [m for m in stored if reads_like_instruction(f"{m.title}\n{m.text}")]
    assert len(orders) > 0.6 * len(POISONED)
    pushed = [brief(store).text, current_block(store).text]
    pushed += [inject(store.in_session(memory.id), memory.text) for memory in orders]
    pushed_text = "\n".join(pushed)
    assert [m.id for m in orders if f"[{m.id}]" in pushed_text or one_line(m.text)[:40] in pushed_text] == []
    assert "\n- [" in pushed[0] and "\n- " in pushed[1], "nothing at all was shown, so nothing was told apart"

    # All are found when somebody asks for them.
    for memory in stored:
        hits = recall(store, Query(memory.text, limit=10, filter=Filter(statuses=tuple(Status)))).hits
        assert memory.id in [hit.id for hit in hits], memory.text


def test_without_a_model_no_order_is_mined_into_a_memory(
    opened: Opened, tmp_path: Path, project: Path
) -> None:
    sessions = [Recorded(tmp_path / "transcripts", cwd=project) for _ in range(3)]
    for session in sessions:
        for item in POISONED:
            session.user("Look at the page and go on, please.")
            session.claude(f"We decided to do this: {item['text']}")

    store = worked(opened, *sessions)

    stored = knowledge(store)
    assert [m.source for m in stored] == ["mined"] * len(stored)
    assert [m.text for m in stored if reads_like_instruction(f"{m.title}\n{m.text}")] == []


# Secrets


def canaries() -> Iterator[str]:
    """Yield 60 secrets, each of another kind or another value."""
    source = random.Random(20261121)
    for maker in list(SHAPED.values())[:52]:
        yield maker(source)
    for maker in (*PASSWORDS, *KEYS):
        yield maker(source)


def said_with(secret: str, number: int) -> str:
    """Return a sentence that somebody may say with a secret in it."""
    if number < 52:
        return f"Deploy number {number} with {secret} please"
    if number < 56:
        return f'Deploy number {number}: the password is "{secret}"'
    return f"Deploy number {number}: curl -H 'Authorization: Bearer {secret}' x.example"


def test_no_secret_reaches_the_disk_or_the_model(
    open_here: Open, recorded: Recorded, memory_dir: Path, tmp_path: Path
) -> None:
    secrets = list(canaries())
    assert len(set(secrets)) == 60

    def repeat(body: dict[str, Any]) -> Answer:
        """Answer with secrets in every place, as if the model had seen them."""
        deploys = "The deploys of the shop run at night from the bastion host"
        proposals = [
            proposal(f"{deploys}: {said_with(secret, number)}", evidence="Deploy number", tags=[secret],
                     title=f"Deploy {secret}")
            for number, secret in list(enumerate(secrets))[:9]
        ]  # fmt: skip
        return reply(json.dumps(proposals))

    agent = Recorded(tmp_path / "transcripts", cwd=recorded.cwd, subagent_of=recorded)
    for number, secret in enumerate(secrets):
        words = said_with(secret, number)
        match number % 6:
            case 0:
                recorded.user(words)
            case 1:
                recorded.claude(words)
            case 2:
                recorded.call("Bash", command=f"echo number; {words}", result=words)
            case 3:
                recorded.call("Write", file_path=f"/srv/{words}", result=words, content=words)
            case 4:
                agent.claude(words)
            case 5:
                recorded.user(f"#remember {words}")
    with ScriptedModel(repeat) as model:
        opened = open_here(**agreed(model, **MANY))
        store = worked(opened, recorded)
        pushed = [before_compaction(store.in_session(recorded.session), recorded.path), brief(store).text]
        for number, secret in enumerate(secrets[:9]):
            draft = Draft(f"Deploy number {number}", redact(said_with(secret, number)), source="mined")
            propose(store, draft, key=f"canary-{number}", confidence=0.8, why="waits")
        pushed += [repr(candidate) for candidate in review_candidates(store)]
        sent_text = json.dumps([[request.headers, request.body] for request in model.asked])
    store.database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    everything = b"\n".join(path.read_bytes() for path in memory_dir.rglob("*") if path.is_file())
    texts = everything.decode("utf-8", "replace") + sent_text + "\n".join(pushed)
    assert "[secret removed" in texts
    assert "number 5 " in texts
    assert model.calls > 0
    assert not any("bastion host" in memory.text for memory in knowledge(store))
    hits = {number: secret for number, secret in enumerate(secrets) if is_there(secret, texts)}
    assert hits == {}


def is_there(secret: str, texts: str) -> bool:
    """Tell whether *secret* is in *texts*, also as JSON or in lower case with other marks, as a tag is."""
    tag = re.sub(r"[^\w./-]+", "-", secret.lower()).strip("-")
    lowered = texts.lower()
    return secret.lower() in lowered or json.dumps(secret)[1:-1].lower() in lowered or tag in lowered
