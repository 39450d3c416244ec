"""A memory is edited in the browser, and nothing that anybody wrote meanwhile is lost."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from mcp_server.actions.files.read import read
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Status
from mcp_server.store import Store
from tests.conftest import Open
from tests.durability.served import eventually
from tests.memories import status, stored
from tests.viewer.conftest import Look, at, serious_findings

TEXT = "The webhook needs the raw body.\n\n- Skip body parsing\n- Verify the signature"
KEY = "AKIAIOSFODNN7EXAMPLQ"


@pytest.fixture
def memory(store: Store) -> str:
    more = {"type": "gotcha", "tags": ("billing",), "touches": ("src/stripe.ts:42",)}
    return stored(store, "Stripe webhook", TEXT, **more)


@pytest.fixture
def page(look: Look, open_here: Open, memory: str) -> Page:
    """The page on which the memory is edited."""
    page = look(open_here())
    at(page, f"/memories/{memory}/edit")
    return page


def path_of(store: Store, memory: str) -> Path:
    return read(store, memory).path


def save(page: Page) -> None:
    page.get_by_role("button", name="Save Ctrl S").click()


def by_hand(path: Path, old: str, new: str) -> None:
    """Change a file as an editor does."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_only_the_lines_that_were_edited_change(page: Page, store: Store, memory: str) -> None:
    path = path_of(store, memory)
    by_hand(path, "source: manual", "source: manual  # mine\nMood: good")
    before = path.read_text(encoding="utf-8").splitlines()
    at(page, f"/memories/{memory}/edit")
    page.get_by_label("Text, in markdown").fill(TEXT.replace("Skip", "Leave out"))
    save(page)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    after = path.read_text(encoding="utf-8").splitlines()
    assert "- Leave out body parsing" in after
    same = [line for line in before if not line.startswith(("updated:", "- Skip"))]
    assert [line for line in after if not line.startswith(("updated:", "- Leave out"))] == same


def test_each_field_is_saved_and_ctrl_s_saves_without_leaving_the_text(
    page: Page, store: Store, memory: str
) -> None:
    page.get_by_label("Title").fill("Stripe webhooks & <raw> bodies")
    page.get_by_role("combobox", name="Type", exact=True).select_option("decision")
    page.get_by_label("Tags").fill("billing, Web Hooks")
    page.get_by_label("Files it is about").fill("src/stripe.ts\nsrc/app, main.ts:7")
    page.get_by_label("Use when").fill("add a webhook, or two\nverify callbacks")
    page.get_by_label("Pinned").check()
    text = page.get_by_label("Text, in markdown")
    text.fill("Say it anew.")
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    expect(page.get_by_text("Not saved yet")).to_be_hidden()
    expect(text).to_be_focused()
    now = read(store, memory).memory
    assert (now.title, now.type, now.text) == ("Stripe webhooks & <raw> bodies", "decision", "Say it anew.")
    assert now.tags == ("billing", "web-hooks")
    assert now.touches == ("src/stripe.ts", "src/app, main.ts:7")
    assert now.use_when == ("add a webhook, or two", "verify callbacks")
    assert now.pinned
    text.fill("Say it a third time.")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Not saved yet")).to_be_hidden()
    assert read(store, memory).memory.text == "Say it a third time."


def test_occasions_that_are_more_and_longer_than_may_be_given_stay_unless_they_are_edited(
    page: Page, store: Store, memory: str
) -> None:
    path = path_of(store, memory)
    line = f"use_when: [{', '.join(f'add webhook {number}' for number in range(11))}, '{'x ' * 90}']\n"
    by_hand(path, "source:", f"{line}source:")
    at(page, f"/memories/{memory}/edit")
    page.get_by_label("Title").fill("Stripe webhooks")
    save(page)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert line in path.read_text(encoding="utf-8")
    page.get_by_label("Use when").fill("\n".join(f"add webhook {number}" for number in range(13)))
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("13 occasions were given in use_when; 8 is the limit.")
    page.get_by_label("Use when").fill("add webhook 3\nadd webhook 5")
    save(page)
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert read(store, memory).memory.use_when == ("add webhook 3", "add webhook 5")


def test_saving_what_was_not_changed_leaves_the_file_alone(page: Page, store: Store, memory: str) -> None:
    path = path_of(store, memory)
    before = path.read_bytes(), path.stat().st_mtime_ns
    save(page)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_the_preview_follows_what_is_typed_and_runs_nothing_of_it(page: Page) -> None:
    hostile = "**bold** <img src=x onerror=alert(1)> [here](javascript:alert(1)) <script>alert(1)</script>"
    page.get_by_label("Text, in markdown").fill(hostile)
    preview = page.locator("#preview")
    expect(preview.locator("strong")).to_have_text("bold")
    expect(preview).to_contain_text("<img src=x onerror=alert(1)>")
    assert preview.locator("img, script, a[href^=javascript]").count() == 0
    expect(page.locator("#outcome")).to_be_empty()


def test_an_editors_save_and_what_was_typed_are_both_shown_and_mine_goes_over_it_once_seen(
    page: Page, store: Store, memory: str
) -> None:
    path = path_of(store, memory)
    text = page.get_by_label("Text, in markdown")
    text.fill(TEXT.replace("Skip", "Never do"))
    by_hand(path, "Verify the signature", "Check the signature first")
    theirs = path.read_bytes()
    save(page)
    conflict = page.get_by_role("region", name="It was changed meanwhile")
    expect(conflict).to_contain_text("Check the signature first")
    expect(conflict.locator("ins").filter(has_text="Never do")).to_be_visible()
    expect(text).to_have_value(TEXT.replace("Skip", "Never do"))
    assert path.read_bytes() == theirs
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        save(page)  # again, without a choice
    expect(conflict).to_be_visible()
    assert path.read_bytes() == theirs
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert read(store, memory).memory.text == TEXT.replace("Skip", "Never do")
    page.get_by_role("link", name="what it said before").click()
    expect(page.get_by_role("row").filter(has_text="Check the signature")).to_be_visible()


def test_a_second_change_meanwhile_is_not_saved_over_unseen(page: Page, store: Store, memory: str) -> None:
    page.get_by_label("Title").fill("Mine")
    by_hand(path_of(store, memory), "title: Stripe webhook", "title: Theirs")
    save(page)
    conflict = page.get_by_role("region", name="It was changed meanwhile")
    expect(conflict.locator("del")).to_have_text("Theirs")
    assert serious_findings(page) == []
    by_hand(path_of(store, memory), "title: Theirs", "title: Theirs again")
    page.get_by_role("button", name="Save mine over it").click()
    expect(conflict.locator("del")).to_have_text("Theirs again")
    assert read(store, memory).memory.title == "Theirs again"


def test_what_it_says_now_can_be_taken_instead(page: Page, store: Store, memory: str) -> None:
    page.get_by_label("Title").fill("Mine")
    by_hand(path_of(store, memory), "title: Stripe webhook", "title: Theirs")
    save(page)
    page.get_by_role("link", name="Use its current text").click()  # asks nothing: it was chosen
    expect(page.get_by_label("Title")).to_have_value("Theirs")


def test_of_two_tabs_the_later_save_is_told_of_the_earlier(page: Page, store: Store, memory: str) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_label("Title").fill("From the other tab")
    save(other)
    expect(other.get_by_text("Saved", exact=True)).to_be_visible()
    page.get_by_label("Title").fill("From this tab")
    save(page)
    conflict = page.get_by_role("region", name="It was changed meanwhile")
    expect(conflict).to_contain_text("From the other tab")
    page.get_by_role("button", name="Go on editing").click()
    expect(page.get_by_label("Text, in markdown")).to_be_focused()
    assert read(store, memory).memory.title == "From the other tab"


def test_a_change_of_what_the_form_does_not_hold_is_kept_without_a_question(
    page: Page, store: Store, memory: str
) -> None:
    revise(store, memory, Revision(notes=("port: 80",)))
    page.get_by_label("Title").fill("Mine")
    save(page)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    now = read(store, memory).memory
    assert (now.title, now.notes) == ("Mine", ("port: 80",))


@pytest.mark.parametrize("verb", ["archived", "superseded", "forgotten"])
def test_what_was_put_away_meanwhile_is_not_merely_called_saved(
    page: Page, store: Store, memory: str, verb: str
) -> None:
    if verb == "archived":
        archive(store, [memory])
    elif verb == "superseded":
        newer = compare_and_store(store, Draft("Webhook", "Parse it raw."), supersedes=memory).id
    else:
        forget(store, memory)
    page.get_by_label("Title").fill("Mine")

    save(page)

    if verb == "forgotten":
        expect(page.locator("#outcome").get_by_role("alert")).to_contain_text("It was forgotten")
        expect(page.get_by_text("Saved", exact=True)).to_have_count(0)
        return
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    state = "archived" if verb == "archived" else f"superseded by {newer}"
    expect(page.locator("#outcome")).to_contain_text(f"It is {state}, so Claude is not shown it")
    page.get_by_role("link", name="its page").click()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    assert (read(store, memory).memory.title, status(store, memory)) == ("Mine", Status(verb))


def test_a_secret_is_refused_with_the_text_kept_unless_it_is_none(
    page: Page, store: Store, memory: str
) -> None:
    text = page.get_by_label("Text, in markdown")
    text.fill(f"The key is {KEY}.")
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("AWS access key")
    expect(text).to_have_value(f"The key is {KEY}.")
    assert read(store, memory).memory.text == TEXT
    page.get_by_role("button", name="It is not a secret: save it").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert read(store, memory).memory.text == f"The key is {KEY}."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [("x" * 70_000, "65,536 is the limit"), ("\n \n", "A memory needs text.")],
    ids=["too long", "empty"],
)
def test_what_cannot_be_stored_is_said_beside_the_form(
    page: Page, store: Store, memory: str, words: str, sentence: str
) -> None:
    page.get_by_label("Text, in markdown").fill(words)
    save(page)
    expect(page.locator("#outcome").get_by_role("alert")).to_contain_text(sentence)
    expect(page.get_by_label("Text, in markdown")).to_have_value(words)
    assert read(store, memory).memory.text == TEXT


def test_leaving_with_unsaved_words_asks(page: Page) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.dismiss()))
    page.get_by_label("Title").fill("Mine")
    page.get_by_role("link", name="Back to reading").click(no_wait_after=True)
    expect(page.get_by_label("Title")).to_have_value("Mine")
    eventually(lambda: page.evaluate("1") and dialogs != [], "it is asked")
    assert dialogs == ["beforeunload"]
    page.get_by_label("Title").fill("Stripe webhook")  # as it was
    page.get_by_role("link", name="Back to reading").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Stripe webhook")
    assert len(dialogs) == 1


def test_memories_near_to_the_new_words_are_shown(page: Page, store: Store, memory: str) -> None:
    near = stored(store, "Map tiles", "Map tiles are cached by the browser for a day.")
    page.get_by_label("Text, in markdown").fill("Map tiles are cached by the browser for a week.")
    save(page)
    others = page.get_by_role("region", name="It may be about the same thing as")
    others.get_by_role("button", name="This replaces it").click()
    expect(others.get_by_role("link", name=near)).to_be_visible()
    assert status(store, near) is Status.SUPERSEDED
    page.get_by_label("Title").fill("Map tiles for a week")
    save(page)  # what became of the other is none of the form's words
    expect(page.get_by_text("Not saved yet")).to_be_hidden()
    assert read(store, memory).memory.title == "Map tiles for a week"


def test_a_memory_of_another_project_is_edited_there(page: Page, elsewhere: Store, store: Store) -> None:
    other = stored(elsewhere, "Office hours", "From nine to five.")
    assert elsewhere.project
    at(page, f"/memories/{other}/edit?project={elsewhere.project.key}")
    page.get_by_label("Text, in markdown").fill("From ten to six.")
    save(page)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert read(elsewhere, other).memory.text == "From ten to six."
    page.get_by_role("link", name="History").click()
    expect(page.get_by_role("row").filter(has_text="revised")).to_have_count(1)
    page.get_by_role("link", name="Links").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Office hours")
