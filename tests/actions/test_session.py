from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.conversation import load_conversation, save_conversation
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.session import restore_session, save_session
from mcp_server.actions.recall.recall import recall
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.core.sessions.conversation import Turn
from mcp_server.store import Store
from tests.adapters.project.repositories import git
from tests.conftest import Clock


@pytest.mark.feature("D-02", "D-15")
def test_a_session_comes_back_with_all_that_was_given(store: Store, project: Path) -> None:
    saved = save_session(
        store,
        "Webhook retries",
        "The queue is half done.",
        files=["src/a.py:3"],
        variables={"PORT": 8080},
        tasks=["add backoff"],
        metadata={"mood": "good"},
        folder=project,
    )

    file, _ = restore_session(store, saved.memory.id, folder=project)

    assert saved.path.parent.name == "sessions"
    assert file.memory.touches == ("src/a.py:3",)
    assert file.memory.notes == ("mood: good",)
    for words in ("half done", "- PORT: 8080", "- [ ] add backoff", "- src/a.py:3"):
        assert words in file.memory.text


@pytest.mark.feature("D-36")
def test_the_latest_session_is_restored_by_default(store: Store, project: Path, clock: Clock) -> None:
    save_session(store, "First", "one", folder=project)
    clock.pass_days(1)
    second = save_session(store, "Second", "two", folder=project)

    assert restore_session(store, "", folder=project)[0].memory.id == second.memory.id
    assert restore_session(store, "latest", folder=project)[0].memory.id == second.memory.id


def test_it_is_told_what_git_changed_since(store: Store, project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    (project / "grüße.py").write_text("1\n", encoding="utf-8")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    saved = save_session(store, "Work", "going on", folder=project)
    git(project, "switch", "-qc", "feature")
    (project / "grüße.py").write_text("2\n", encoding="utf-8")
    git(project, "commit", "-qam", "second thoughts")

    _, since = restore_session(store, saved.memory.id, folder=project)

    assert since.branch == "feature"
    assert [commit.partition(" ")[2] for commit in since.commits] == ["second thoughts"]
    assert since.files == ("grüße.py",)


def test_without_git_the_files_themselves_tell(store: Store, project: Path, clock: Clock) -> None:
    clock.now = clock.now.replace(year=2020)
    (project / "a.py").write_text("1\n", encoding="utf-8")
    saved = save_session(store, "Work", "going on", files=["a.py", "gone.py:3"], folder=project)

    _, since = restore_session(store, saved.memory.id, folder=project)

    assert since.files == ("a.py", "gone.py:3 (gone)")


def test_a_session_of_a_folder_names_its_files_from_the_root_of_the_project(
    store: Store, project: Path, clock: Clock
) -> None:
    clock.now = clock.now.replace(year=2100)
    work = project / "src"
    work.mkdir()
    for path in (work / "a.py", project / "b.py", work / "old.py"):
        path.write_text("1\n", encoding="utf-8")
    named = ["a.py:3", "../b.py", str(work / "a.py"), "gone.py"]
    saved = save_session(store, "Work", "going on", files=named, folder=work).memory
    assert saved.touches == ("src/a.py:3", "b.py", "src/a.py", "src/gone.py")
    for folder in (project, work):
        assert restore_session(store, saved.id, folder=folder)[1].files == ("src/gone.py (gone)",)

    before = save_session(store, "Before", "as earlier versions", files=["old.py"], folder=project).memory.id
    assert restore_session(store, before, folder=work)[1].files == ()


def test_secrets_in_a_session_are_masked(store: Store, project: Path) -> None:
    token = "ghp_" + "k3J9xQ2mV7bT5nR8wL4cY6zD1fH0sG2pA9eU"
    saved = save_session(
        store,
        f"Keys {token}",
        "see variables",
        variables={"token": token},
        files=[f"keys/{token}.txt"],
        metadata={"token": token},
        folder=project,
    )

    assert "ghp" not in saved.path.read_text(encoding="utf-8") and "ghp" not in saved.path.name


def test_secrets_in_a_conversation_are_masked(store: Store) -> None:
    token = "ghp_" + "k3J9xQ2mV7bT5nR8wL4cY6zD1fH0sG2pA9eU"
    saved = save_conversation(
        store,
        f"About {token}",
        [{"role": f"bot {token}", "content": f"It is {token}.", "timestamp": token}],
        metadata={"token": token},
        tags=("keys", token),
    )

    assert token.lower() not in f"{saved.path} {saved.path.read_text(encoding='utf-8')}".lower()
    assert saved.memory.tags == ("keys",)


def test_a_session_that_is_not_there_is_said(store: Store, project: Path) -> None:
    with pytest.raises(NotFound, match=r"No session is saved here yet\."):
        restore_session(store, "latest", folder=project)
    remembered = remember(store, Draft("A", "fact"))
    with pytest.raises(Rejected, match="not a session"):
        restore_session(store, remembered.memory.id, folder=project)


def test_who_misspells_a_session_is_told_those_that_there_are(store: Store, project: Path) -> None:
    remember(store, Draft("Webhook retries", "are a fact, no session", id="webhook-retries"))
    ids = [save_session(store, title, "…", folder=project).memory.id for title in ("Webhook", "Lunch")]

    with pytest.raises(NotFound) as near:
        restore_session(store, f"{ids[0][:-1]}x", folder=project)
    with pytest.raises(NotFound) as far:
        restore_session(store, "zzz", folder=project)

    assert near.value.hint == f"Did you mean {ids[0]}? 'daybook list --kind session' lists all."
    assert str(far.value) == "No saved session has the id 'zzz'."
    assert all(session in far.value.hint for session in ids)
    listed = "'daybook list --kind conversation' lists all."
    with pytest.raises(NotFound) as none:
        load_conversation(store, "zzz")
    assert str(none.value) == "No saved conversation has the id 'zzz'."
    assert none.value.hint == listed
    saved = save_conversation(store, "Talk", ["hello"]).memory.id
    with pytest.raises(NotFound) as other:
        load_conversation(store, "zzz")
    assert other.value.hint == f"Did you mean {saved}? {listed}"


@pytest.mark.feature("D-03", "3.4-conversation")
def test_a_conversation_comes_back_word_for_word(store: Store) -> None:
    messages = [
        {"role": "user", "content": "---\ntitle: no frontmatter\n---\n## USER\n\n*10:00*\nwhy?"},
        {"role": "assistant", "content": "*because*\n\n## ASSISTANT", "timestamp": "2026-11-20T09:00:00Z"},
        {"role": "user", "content": "# Conversation\n\n## user\n---\n> quoted"},
        {"role": "assistant", "content": "```\n# code\n```"},
    ]
    saved = save_conversation(store, "Why we left", messages)
    sync(store, deep=True)

    file, turns = load_conversation(store, saved.memory.id)

    assert file.path.parent.name == "conversations"
    assert turns == [
        Turn(message["role"], message["content"], message.get("timestamp", "")) for message in messages
    ]


def test_a_conversation_is_recalled_by_its_words_and_its_speaker(store: Store) -> None:
    saved = save_conversation(store, "Lunch", [{"role": "Caroline", "content": "I adopted a dog."}])

    assert recall(store, Query("caroline dog")).hits[0].id == saved.memory.id


def test_a_large_conversation_is_kept_whole(store: Store) -> None:
    messages = [{"role": "user", "content": f"line {number} " + "x" * 500} for number in range(1000)]

    saved = save_conversation(store, "Long", messages)

    assert len(load_conversation(store, saved.memory.id)[1]) == 1000
