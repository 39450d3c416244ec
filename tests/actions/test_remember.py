import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.changes.deeds import list_deeds
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.session import save_session
from mcp_server.actions.recall.recall import recall
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import TAGS, Draft, Link
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.search.query import Query, filter_of
from mcp_server.store import Store
from tests.conftest import Open


def test_a_memory_becomes_one_readable_file(store: Store) -> None:
    remembered = remember(
        store, Draft("Webhook needs the raw body", "Skip body parsing.", type="gotcha", tags=("Stripe",))
    )

    text = remembered.path.read_text(encoding="utf-8")
    assert text.startswith(
        f"---\nid: {remembered.memory.id}\ntitle: Webhook needs the raw body\ntype: gotcha\n"
    )
    assert text.endswith("---\nSkip body parsing.\n")
    assert "tags: [stripe]" in text
    assert remembered.path.name == f"{remembered.memory.id}.md"


@pytest.mark.feature("C-32")
def test_inside_a_project_knowledge_belongs_to_it_and_preferences_to_the_person(store: Store) -> None:
    assert remember(store, Draft("A", "fact")).level is Level.PROJECT
    assert remember(store, Draft("B", "likes", type="preference")).level is Level.USER
    assert remember(store, Draft("C", "everywhere", level=Level.USER)).level is Level.USER


def test_in_the_home_folder_everything_belongs_to_the_person(open_here: Open, scratch_home: Path) -> None:
    store = open_here(folder=scratch_home).store()

    assert remember(store, Draft("A", "fact")).level is Level.USER
    with pytest.raises(Rejected, match="no project"):
        remember(store, Draft("B", "fact", level=Level.PROJECT))


@pytest.mark.feature("B-45")
def test_saying_the_same_again_only_adds_its_tags(store: Store) -> None:
    first = remember(store, Draft("Deploys", "We deploy from main.", tags=("ci",)))

    again = remember(store, Draft("deploys ", "We  deploy from MAIN.", tags=("release",)))

    assert again.known
    assert again.memory.id == first.memory.id
    assert read(store, first.memory.id).memory.tags == ("ci", "release")
    assert len(list(first.path.parent.glob("*.md"))) == 1


def test_saying_the_same_again_adds_its_links_and_the_files_it_touches(store: Store) -> None:
    other = remember(store, Draft("Release", "Every Monday.")).memory.id
    mine = Draft("Deploys", "We deploy from main.", touches=("ci.yml",), links=(Link("part-of", other),))
    first = remember(store, mine).memory

    again = remember(
        store,
        replace(mine, touches=("deploy.sh",), links=(Link("uses", "Docker"), Link("relates-to", first.id))),
    )

    assert again.known
    assert again.memory.touches == ("ci.yml", "deploy.sh")
    assert again.memory.links == (Link("part-of", other), Link("uses", "Docker"))
    assert remember(store, mine).memory == again.memory


def test_saying_the_same_again_adds_no_tag_beyond_the_most(store: Store) -> None:
    tags = tuple(f"tag{number}" for number in range(TAGS.most))
    first = remember(store, Draft("Deploys", "We deploy from main.", tags=tags[1:]))

    again = remember(store, Draft("Deploys", "We deploy from main.", tags=(tags[0], "release")))

    assert again.known
    assert read(store, first.memory.id).memory.tags == (*tags[1:], tags[0])


@pytest.mark.parametrize(
    ("tag", "stored_tag"),
    [
        ("Data Base", "data-base"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
        (unicodedata.normalize("NFD", "#Café"), "café"),
        ("C++", "c++"),
        ("#C#", "c#"),
        (".NET", ".net"),
        ("Node.js", "node.js"),
        ("search + replace", "search-replace"),
    ],
)
def test_a_tag_is_found_as_it_was_given_in_any_script(store: Store, tag: str, stored_tag: str) -> None:
    remembered = remember(store, Draft("Deploys", "We deploy from main.", tags=(tag,)))

    assert remembered.memory.tags == (stored_tag,)
    assert read(store, remembered.memory.id).memory.tags == (stored_tag,)
    query = Query("deploy", filter=filter_of(tags=(tag,)))
    assert [hit.id for hit in recall(store, query).hits] == [remembered.memory.id]
    assert not recall(store, Query("deploy", filter=filter_of(tags=("!",)))).hits


def test_tags_that_only_signs_tell_apart_stay_apart(store: Store) -> None:
    languages = ("c++", "c#", "c", "f#")

    remembered = remember(
        store, Draft("Languages", "Four of them are used here.", tags=("c++", "C#", "C", "f#"))
    )

    assert read(store, remembered.memory.id).memory.tags == languages
    revise(store, remembered.memory.id, Revision(text="All four are used here."))
    assert read(store, remembered.memory.id).memory.tags == languages
    for tag in ("c++", "C#"):
        assert list_memories(store, filter_of(tags=(tag,))).total == 1
    assert list_memories(store, filter_of(tags=("f",))).total == 0


def test_what_a_saved_session_says_is_no_piece_of_knowledge_yet(store: Store, project: Path) -> None:
    save_session(store, "Deploys", "We deploy from main.", folder=project)

    remembered = remember(store, Draft("Deploys", "We deploy from main."))

    assert not remembered.known
    assert remembered.memory.kind is Kind.KNOWLEDGE


@pytest.mark.parametrize("path", ["a\0b.py", "a\ud800.py"], ids=["NUL", "half a character"])
def test_a_file_that_cannot_be_named_so_stops_nothing(store: Store, path: str) -> None:
    remembered = remember(store, Draft("Deploys", "We deploy from main.", touches=(path,)))

    assert [hit.id for hit in recall(store, Query("deploy")).hits] == [remembered.memory.id]
    assert [row.deed.event for row in list_deeds(store, remembered.memory.id)] == ["remembered"]


def test_what_supersedes_nothing_known_is_stored_all_the_same(store: Store) -> None:
    remembered = remember(store, Draft("Database", "We use Postgres.", supersedes=("was-never-there",)))

    assert read(store, remembered.memory.id).memory.supersedes == ("was-never-there",)


@pytest.mark.parametrize(
    ("draft", "sentence"),
    [
        (Draft("", "text"), "needs a title"),
        (Draft("title", " \n "), "needs text"),
        (Draft("t" * 201, "text"), "201 characters"),
        (Draft("title", "x" * 65_537), "65,537 characters"),
        (Draft("title", "text", type="idea"), "'idea' is not a type"),
        (Draft("title", "text", id="../escape"), "is not an id"),
        (Draft("title", "text", tags=tuple(f"t{n}" for n in range(21))), "21 tags"),
    ],
)
def test_what_cannot_be_stored_is_refused_in_a_sentence(store: Store, draft: Draft, sentence: str) -> None:
    with pytest.raises(Rejected, match=sentence) as refusal:
        remember(store, draft)

    assert refusal.value.hint
    assert not list(store.home.rglob("*.md"))


@pytest.mark.feature("D-27")
def test_a_secret_is_refused_unless_the_person_insists(store: Store) -> None:
    draft = Draft("Deploy key", "token: ghp_" + "k3J9xQ2mV7bT5nR8wL4cY6zD1fH0sG2pA9eU")

    with pytest.raises(Rejected, match="was not stored"):
        remember(store, draft)

    assert remember(store, draft, keep_secrets=True).path.exists()


def test_a_secret_that_is_kept_in_a_title_is_in_no_id_and_so_in_no_ledger(store: Store) -> None:
    draft = Draft("Bucket AKIAIOSFODNN7QWERTZU", "For uploads.")
    memory_id = remember(store, draft, keep_secrets=True).memory.id

    assert memory_id.startswith("bucket-secret-removed-")
    ledger = b"".join(path.read_bytes() for path in store.ledger.paths())
    assert b"akiaiosfodnn7qwertzu" not in ledger.lower()


@pytest.mark.parametrize("text", ["{mask}", "`{mask}`.", "- {mask}\n- {mask}"])
def test_what_is_nothing_but_a_masked_secret_is_refused(store: Store, text: str) -> None:
    draft = Draft("Deploy key", text.format(mask="[secret removed: a GitHub token]"))

    with pytest.raises(Rejected, match="nothing but a secret") as refusal:
        remember(store, draft, keep_secrets=True)

    assert refusal.value.hint
    assert remember(store, Draft("Deploy key", f"It is {draft.text}, in the vault.")).path.exists()


def test_an_id_that_is_taken_is_not_given_twice(store: Store) -> None:
    remember(store, Draft("A", "one", id="auth-flow"))

    with pytest.raises(Rejected, match="taken"):
        remember(store, Draft("B", "two", id="auth-flow"))


TOKEN = "ghp_" + "Zq8vLw3nRt6yBx1mKp4sDh7jFc2gVa9uXe5i"
BESIDE = (
    {"tags": (TOKEN,)},
    {"category": TOKEN},
    {"notes": (f"token: {TOKEN}",)},
    {"touches": (f"src/{TOKEN}.ts",)},
    {"links": (Link("uses", f"keys/{TOKEN}.txt"),)},
    {"links": (Link("uses", "keys.txt", (TOKEN,)),)},
)


MADE_LOWER = ({"links": (Link(TOKEN, "keys.txt"),)}, {"tags": ("AKIA" + "Q7RT2MZXW4LN8PKV",)})


@pytest.mark.parametrize("beside", MADE_LOWER, ids=["label", "tag"])
def test_a_secret_is_found_where_it_would_be_stored_in_lower_case(
    store: Store, beside: dict[str, Any]
) -> None:
    with pytest.raises(Rejected, match="seems to contain"):
        remember(store, Draft("Deploys", "They use a token.", **beside))
    memory_id = remember(store, Draft("Deploys", "They use a token.")).memory.id
    with pytest.raises(Rejected, match="seems to contain"):
        revise(store, memory_id, Revision(**beside))


@pytest.mark.parametrize("beside", BESIDE, ids=[next(iter(beside)) for beside in BESIDE])
def test_a_secret_beside_the_text_is_refused_as_in_it(store: Store, beside: dict[str, Any]) -> None:
    with pytest.raises(Rejected, match="seems to contain"):
        remember(store, Draft("Deploys", "They use a token.", **beside))
    memory_id = remember(store, Draft("Deploys", "They use a token.")).memory.id

    with pytest.raises(Rejected, match="seems to contain"):
        revise(store, memory_id, Revision(**beside))

    kept = revise(store, memory_id, Revision(**beside), keep_secrets=True)
    assert TOKEN.lower() in kept.path.read_text(encoding="utf-8").lower()
    assert revise(store, memory_id, Revision(title="Deployments")).memory.title == "Deployments"


def test_saying_the_same_again_may_name_what_it_supersedes(store: Store) -> None:
    old = remember(store, Draft("Port", "Staging listens on 8080.")).memory.id
    new = remember(store, Draft("Ports", "Staging listens on 9090 now.")).memory.id

    again = remember(store, Draft("Ports", "Staging listens on 9090 now.", supersedes=(old,), session="s1"))

    assert (again.known, again.memory.id, again.memory.supersedes) == (True, new, (old,))
    assert read(store, old).memory.superseded_by == new
    assert [row.deed.id for row in list_deeds(store, session="s1")].count(old) == 2  # revised, and its trust
