"""`#remember` in a prompt: stored at once by the prompt's hook, told to Claude, and not stored twice."""

import json
from collections.abc import Callable

import pytest

from mcp_server.actions.capture.capture import keep
from mcp_server.actions.changes.undo import last_change
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.remember_marker import UNSEEN
from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.core.authors import MODEL, PERSON
from mcp_server.core.errors import AFTER_REFUSAL
from mcp_server.core.memory import Draft, Memory
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search.query import Filter
from mcp_server.store import Store
from tests.conftest import Open
from tests.doors.called import connected
from tests.recorded import Recorded, seen

Prompt = Callable[..., str]
DEPLOY = "We deploy on Fridays from the release branch."


pytestmark = pytest.mark.usefixtures("no_worker_is_left")


@pytest.fixture
def prompt(open_here: Open, recorded: Recorded) -> Prompt:
    """Type a prompt; return what Claude is told with it."""

    def typed(words: str, origin: str = "", **environment: str) -> str:
        recorded.user(words)
        arguments = {
            "event": "UserPromptSubmit",
            "session_id": recorded.session,
            "prompt": words,
            "origin": origin,
        }

        with connected(open_here(**environment)) as call:
            answer = json.loads(call("hook", **arguments))
        return str(answer["hookSpecificOutput"]["additionalContext"]) if answer else ""

    return typed


def knowledge(store: Store) -> list[Memory]:
    rows = list_memories(store, Filter(kinds=(Kind.KNOWLEDGE,))).rows
    return [read(store, row.id).memory for row in rows]


def test_a_marked_prompt_is_a_memory_at_once_and_claude_is_told(
    prompt: Prompt, store: Store, recorded: Recorded
) -> None:
    context = prompt(f"#remember {DEPLOY}")

    (memory,) = knowledge(store)
    assert (memory.text, memory.source, memory.session) == (DEPLOY, "manual", recorded.session)
    assert context.startswith(
        "Daybook: the person marked with #remember this prompt, and Daybook has stored it;"
    )
    assert f"{memory.id}: remembered" in context
    assert last_change(store, memory.id).by == PERSON


def test_the_answer_names_what_is_near_what_differs_and_what_settles_it(prompt: Prompt, store: Store) -> None:
    old = remember(store, Draft("The API timeout is 30 seconds", "The API timeout is 30 seconds.")).memory.id

    context = prompt("The API timeout is 60 seconds. #remember")

    new = next(memory.id for memory in knowledge(store) if memory.id != old)
    assert f"Near it: {old} " in context and "differs in" in context
    assert f"If {new} replaces one of them, call remember again with the same words and supersedes" in context


def test_a_broken_file_near_it_keeps_nothing_from_being_stored(prompt: Prompt, store: Store) -> None:
    old = remember(store, Draft("The API timeout is 30 seconds", "The API timeout is 30 seconds."))
    old.path.write_bytes(old.path.read_bytes().replace(b"---", b"---\ntags: [", 1))

    context = prompt("The API timeout is 60 seconds. #remember")

    assert "marked with #remember this prompt, and Daybook has stored it" in context
    assert old.memory.id in context and UNSEEN in context


def test_the_title_of_what_waits_for_the_person_is_not_told_by_that(prompt: Prompt, store: Store) -> None:
    title = "The API timeout is 30 seconds, says the page"
    waits = remember(store, Draft(title, f"{title}.", source="seeded")).memory.id

    context = prompt("#remember The API timeout is 60 seconds, says the page")

    assert waits in context
    assert "30 seconds" not in context.replace(waits, "")


def test_what_was_stored_at_once_is_not_stored_again_from_the_transcript(
    prompt: Prompt, store: Store, recorded: Recorded
) -> None:
    prompt(f"#remember {DEPLOY}")
    (memory,) = knowledge(store)

    keep(store, seen(store, recorded))

    assert [now.id for now in knowledge(store)] == [memory.id]


def test_a_paste_that_is_marked_is_stored_without_the_marks_of_claude_code(
    prompt: Prompt, store: Store, recorded: Recorded
) -> None:
    paste = f'<pasted_content id="621f">\n{DEPLOY}\nNever on Mondays.\n</pasted_content id="621f">\n'
    prompt(f"#remember \n\n{paste}")

    keep(store, seen(store, recorded))

    (memory,) = knowledge(store)
    assert (memory.title, memory.text) == (DEPLOY.rstrip("."), f"{DEPLOY}\nNever on Mondays.")


def test_what_was_forgotten_meanwhile_stays_forgotten(
    prompt: Prompt, store: Store, recorded: Recorded
) -> None:
    prompt(f"#remember {DEPLOY}")
    forget(store, knowledge(store)[0].id)

    keep(store, seen(store, recorded))

    assert knowledge(store) == []


def test_what_no_hook_stored_is_stored_from_the_transcript_on_the_same_road(
    store: Store, recorded: Recorded
) -> None:
    old = remember(store, Draft("Deploys", DEPLOY)).memory.id
    recorded.user(f"#remember Deploys | {DEPLOY} The release manager watches the graphs.")
    recorded.user("#remember")

    keep(store.acting_as(MODEL), seen(store, recorded))

    (memory,) = knowledge(store)
    assert (memory.supersedes, memory.source) == ((old,), "manual")
    assert "manager watches" in memory.text
    assert last_change(store, memory.id).by == PERSON


def test_private_and_secret_words_are_not_stored_and_a_mask_is_told(prompt: Prompt, store: Store) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    context = prompt(f"#remember The deploy token is {token}. <private>Bob is ill.</private>")

    (memory,) = knowledge(store)
    assert "secret removed" in memory.text and "Bob" not in memory.text
    assert "A secret in it was taken out." in context
    assert token not in context
    assert all(token.encode() not in path.read_bytes() for path in store.home.rglob("*") if path.is_file())


def test_a_secret_alone_is_stored_neither_at_once_nor_from_the_transcript(
    prompt: Prompt, store: Store, recorded: Recorded
) -> None:
    context = prompt("#remember ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")

    keep(store, seen(store, recorded))

    assert "did not store it: It is nothing but a secret" in context
    assert knowledge(store) == []


def test_a_tag_that_is_only_quoted_is_no_order_in_the_transcript_either(
    prompt: Prompt, store: Store, recorded: Recorded
) -> None:
    assert "#remember" not in prompt(f"What does `#remember` do?\n\n```\n#remember {DEPLOY}\n```")

    keep(store, seen(store, recorded))

    assert knowledge(store) == []


def test_a_tag_in_what_looks_pasted_stores_nothing_and_the_person_is_told(
    prompt: Prompt, store: Store
) -> None:
    context = prompt(f"One more thing, from the docs:\n#remember {DEPLOY}\nIs that right?")

    assert "#remember stands in what looks pasted, so nothing was stored" in context
    assert knowledge(store) == []


def test_of_a_prompt_that_claude_wrote_nobody_is_told_what_it_did_not_store(
    prompt: Prompt,
) -> None:
    words = f"One more thing, from the docs:\n#remember {DEPLOY}\nIs that right?"

    assert "#remember" not in prompt(words, origin="agent")


@pytest.mark.parametrize(
    "words",
    [
        f"{DEPLOY} see notes/#remember",
        f"#remember {DEPLOY} #skip",
        f"<private>#remember {DEPLOY}</private>",
        f"/daybook:remember #remember {DEPLOY}",
        f"<task-notification>#remember {DEPLOY}</task-notification>",
    ],
)
def test_what_is_not_marked_or_not_to_be_kept_is_not_stored(prompt: Prompt, store: Store, words: str) -> None:
    assert "#remember" not in prompt(words)
    assert knowledge(store) == []


def test_the_tag_alone_is_about_what_was_said_before(
    prompt: Prompt, store: Store, recorded: Recorded
) -> None:
    assert "store with the tool remember what they mean" in prompt("#remember")

    keep(store, seen(store, recorded))

    assert knowledge(store) == []


def test_what_cannot_be_stored_now_is_said_and_stored_from_the_transcript(
    prompt: Prompt, store: Store, recorded: Recorded
) -> None:
    remember(store, Draft("Known", "Something."))
    folder = store.vaults[-1].root / "knowledge"
    folder.rename(folder.with_name("away"))
    folder.write_text("a file in the place of the folder", encoding="utf-8")

    text = prompt(f"#remember {DEPLOY}")
    assert f"could not store it now: The disk refused {folder}" in text
    assert f": Not a directory. {AFTER_REFUSAL} Tell the person." in text

    folder.unlink()
    folder.with_name("away").rename(folder)
    keep(store, seen(store, recorded))
    assert DEPLOY in [memory.text for memory in knowledge(store)]


def test_switched_off_nothing_is_stored(prompt: Prompt, store: Store) -> None:
    assert prompt(f"#remember {DEPLOY}", DAYBOOK_HOOKS="off") == ""  # type: ignore[call-arg]
    assert knowledge(store) == []
