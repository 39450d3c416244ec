"""The page of what Claude is told says exactly what the hooks say, and looking at it is noted nowhere."""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from mcp_server.actions.context.claude_md import CLAUDE_MD, choose
from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.candidate import propose
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.provenance import SETTLED_ONCE
from mcp_server.core.render import estimated_tokens
from mcp_server.doors.server.hook_tool import Hooks
from tests.actions.test_pointers import TUESDAYS, drafts
from tests.hook_process import run_hook
from tests.opened import opened_at
from tests.viewer.conftest import Look, findings, go

Hook = Callable[..., str]
WEBHOOK = Draft("Webhook", "Payment callbacks skip body parsing.", type="gotcha")
ASKED = "why does the webhook of payment callbacks skip body parsing"


@pytest.fixture
def opened(memory_dir: Path, project: Path) -> Iterator[Opened]:
    """The store as the hooks see it, whose clock is the real one."""
    opened_store = opened_at(memory_dir, project)
    yield opened_store
    opened_store.database.close()


@pytest.fixture
def hook(memory_dir: Path, project: Path) -> Hook:
    """Run a hook as the launcher does; give what it adds to the context, or what the *person* is told."""

    def run(
        event: str, *, session: str = "s1", folder: Path = project, person: bool = False, **fields: str
    ) -> str:
        data = {"session_id": session, "source": "startup", "cwd": str(folder), **fields}
        process = run_hook(memory_dir, event, data, folder=folder, EMBEDDING_MODEL="none")
        assert process.returncode == 0, process.stderr
        answer = json.loads(process.stdout) if process.stdout else {}
        if person:
            return str(answer.get("systemMessage", ""))
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    return run


def ledger(opened: Opened) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in opened.store().ledger.paths()}


def brief_on(page: Page) -> str:
    return page.locator("#brief").text_content() or ""


def tried_on(page: Page, prompt: str) -> str:
    """Type *prompt*; give the text that the page says would come with it."""
    page.evaluate(  # an earlier choice, as of the session, may be answered only now
        "addEventListener('htmx:afterSettle', (event) => {"
        " const asked = new URL(event.detail.xhr.responseURL).searchParams;"
        " document.body.dataset.shown = asked.get('prompt') })"
    )
    page.get_by_role("textbox", name="Prompt").fill(prompt)
    expect(page.locator("body")).to_have_attribute("data-shown", prompt)
    injected = page.locator("#injected")
    return (injected.text_content() or "") if injected.count() else ""


def test_the_brief_on_the_page_is_what_a_session_gets_to_the_byte(
    opened: Opened, hook: Hook, look: Look, tmp_path: Path
) -> None:
    (tmp_path / "office").mkdir()
    office = opened_at(opened.home, tmp_path / "office")
    store, other = opened.store(), office.store()
    # What was noted this moment loses its currency by the second, by its type, and so its place in the order.
    earlier = store._replace(clock=lambda: datetime.now(UTC) - timedelta(days=3.5))
    for draft in (TUESDAYS, *drafts()):
        remember(earlier, draft)
    remember(
        earlier,
        Draft("Tabs & <b>spaces</b>", "Two `spaces`\n\n  in YAML.", type="preference", level=Level.USER),
    )
    remember(other, Draft("Lifts", "The lift is serviced in May.", type="decision"))
    noted = ledger(opened)

    page = look(opened)
    go(page, "What Claude is shown")
    brief_here = brief_on(page)
    total = page.locator("#brief-total").inner_text()
    page.get_by_label("Project").select_option(label="office")
    expect(page.get_by_role("table").first).to_contain_text("Lifts")
    brief_there = brief_on(page)
    page.get_by_label("Project").select_option(label="no project: your own memory")
    expect(page.get_by_role("table").first).not_to_contain_text("Lifts")
    own = brief_on(page)

    assert ledger(opened) == noted
    assert brief_here == hook("SessionStart")
    assert total == str(estimated_tokens(brief_here))
    assert brief_there == hook("SessionStart", session="s2", folder=tmp_path / "office")
    assert own == hook("SessionStart", session="s3", folder=Path(os.environ["HOME"]))
    assert "spaces" in own
    office.database.close()


def test_each_entry_has_its_tokens_and_leads_to_its_memory(opened: Opened, look: Look) -> None:
    memory_id = remember(opened.store(), WEBHOOK).memory.id
    page = look(opened)
    go(page, "What Claude is shown")

    row = page.get_by_role("row").filter(has_text=memory_id)
    line = next(line for line in brief_on(page).split("\n") if memory_id in line)
    expect(row.get_by_role("cell").nth(1)).to_have_text(str(estimated_tokens(line)))
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Webhook", level=1)).to_be_visible()


def test_a_subagent_gets_what_the_page_says_to_the_byte(opened: Opened, hook: Hook, look: Look) -> None:
    store = opened.store()
    page = look(opened)
    go(page, "What Claude is shown")
    expect(page.get_by_text("there is no preference and no decision here")).to_be_visible()
    remember(store, WEBHOOK)
    remember(store, Draft("Tabs", "Two `spaces` in YAML.", type="preference", level=Level.USER))
    page.reload()

    brief_of_subagent = page.locator("#subagent").text_content()

    assert brief_of_subagent == hook("SubagentStart")
    assert "spaces" in brief_of_subagent and "Webhook" in brief_of_subagent
    assert page.locator("#subagent-total").text_content() == str(estimated_tokens(brief_of_subagent))


def test_the_line_for_the_person_is_shown_as_the_next_session_shows_it_and_noted_nowhere(
    opened: Opened, hook: Hook, look: Look
) -> None:
    store = opened.store()
    page = look(opened)
    go(page, "What Claude is shown")
    expect(page.get_by_text("Nothing: nothing needs you.")).to_be_visible()
    remember(store, Draft("Uploads", "They end after 30 seconds.", source="assistant"))
    propose(store, Draft("pnpm", "Use pnpm."), key=16 * "a", confidence=0.9, why=SETTLED_ONCE)
    page.reload()
    once = page.locator("#notice").inner_text()
    page.reload()
    assert page.locator("#notice").inner_text() == once

    assert hook("SessionStart", person=True) == once
    assert "1 sentence" in once
    page.reload()
    later = page.locator("#notice").inner_text()
    assert hook("SessionStart", session="s2", person=True) == later != once


def test_what_does_not_fit_is_named_with_what_becomes_of_it(opened: Opened, look: Look) -> None:
    store = opened.store()
    title = "Rule {} about the robots of the warehouse in the north"
    for number in range(120):
        remember(store, Draft(title.format(number), f"Text {number}. " * 30, type="decision"))
    page = look(opened)
    go(page, "What Claude is shown")
    page.get_by_text("Considered and left out").click()

    brief_text = brief_on(page)
    rows = page.locator("#left-out tbody tr").all()
    assert len(rows) == 60
    for row in rows:
        name, _, _, instead = row.get_by_role("cell").all_inner_texts()
        assert (f"{name} (" in brief_text) == (instead == "shown by title")
    assert "and" in brief_text.split("\n")[-2]


def test_what_the_block_tells_is_not_told_again(opened: Opened, hook: Hook, look: Look) -> None:
    store = opened.store()
    memory_id = remember(store, WEBHOOK).memory.id
    choose(store, CLAUDE_MD)
    page = look(opened)
    go(page, "What Claude is shown")

    assert memory_id not in hook("SessionStart")
    expect(page.locator("#brief")).to_have_count(0)
    expect(page.get_by_role("link", name=memory_id)).to_be_visible()
    assert (page.locator("#block").text_content() or "") in (store.project.root / CLAUDE_MD).read_text()

    path = store.project.root / CLAUDE_MD
    path.write_text(path.read_text().replace("Webhook", "Hooks"))
    page.reload()
    expect(page.get_by_text("It is not as Daybook wrote it")).to_be_visible()
    assert brief_on(page) == hook("SessionStart", session="s2") != ""


def test_a_prompt_that_is_tried_gets_what_the_hook_gives_and_is_noted_nowhere(
    opened: Opened, hook: Hook, look: Look
) -> None:
    store = opened.store()
    for draft in (WEBHOOK, TUESDAYS, *drafts()):
        remember(store, draft)
    page = look(opened)
    go(page, "What Claude is shown")
    noted = ledger(opened)
    prompts = (
        ASKED,
        "on which days do production deploys happen",
        "rename this variable",
        "/compact now",
        "webhook",
    )
    tried = [tried_on(page, prompt) for prompt in prompts]
    assert ledger(opened) == noted
    assert findings(page) == []

    sessions = [f"s{number}" for number, _ in enumerate(prompts, start=1)]
    for session in sessions:
        hook("SessionStart", session=session)
    sync(store)  # a hook's process reads the index alone
    both = zip(sessions, prompts, strict=True)
    assert tried == [hook("UserPromptSubmit", session=session, prompt=prompt) for session, prompt in both]
    assert any(tried)

    sync(store)
    page.reload()
    page.get_by_role("combobox", name="Session").select_option("s1")
    assert tried_on(page, ASKED) == hook("UserPromptSubmit", prompt=ASKED) == ""
    expect(page.locator("#missed tr").filter(has_text="Webhook")).to_contain_text(
        "already shown in this session"
    )


def test_with_the_model_a_prompt_gets_what_the_server_gives(
    memory_dir: Path, project: Path, look: Look
) -> None:
    opened = opened_at(memory_dir, project, EMBEDDING_MODEL="minilm-l6")
    for draft in (TUESDAYS, *drafts()):
        remember(opened.store(), draft)
    embed_pending(opened.store())
    page = look(opened)
    go(page, "What Claude is shown")
    asked = ("ship the release now", "On which days do production deploys happen?", "thanks!")
    tried = [tried_on(page, prompt) for prompt in asked]

    sync(opened.store())
    given = [*zip(*_brief_of(opened), strict=True)]
    opened.store().ledger.append(
        "injected", opened.clock(), why="session start", session="s1",
        refs=[ref for ref, _ in given], digests=[digest for _, digest in given],
    )  # fmt: skip
    sync(opened.store())
    server = Hooks(opened_at(memory_dir, project, EMBEDDING_MODEL="minilm-l6"))
    answers = [json.loads(server.answer("UserPromptSubmit", "s1", prompt)) for prompt in asked]

    assert tried == [each.get("hookSpecificOutput", {}).get("additionalContext", "") for each in answers]
    assert any(tried)


def test_an_empty_store_says_what_to_do_and_stays_usable(opened: Opened, look: Look) -> None:
    page = look(opened, read_only=True)
    go(page, "What Claude is shown")

    expect(page.get_by_text("Nothing: there is no memory here that may be shown unasked")).to_be_visible()
    assert tried_on(page, ASKED) == ""
    expect(page.get_by_role("status").filter(has_text="Nothing would come")).to_be_visible()
    expect(page.get_by_text("No memory is near it.")).to_be_visible()
    assert findings(page) == []


def _brief_of(opened: Opened) -> tuple[tuple[str, ...], tuple[str, ...]]:
    from mcp_server.actions.context.brief import brief

    told = brief(opened.store())
    return told.refs, told.digests
