"""Nobody reads or changes what they may not, through the storage or by SQL of their own in their role."""

import random
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from mcp_server.core.errors import Conflict, DaybookError, NotAllowed, NotFound, Rejected
from mcp_server.core.storage.port import ChangeKind, Stored
from mcp_server.core.team.team import Member, Role
from tests.team_database.teams import MEMBERS, Opened, memory

TRIES = 2_000
SECRET = "Nobody but anna and cleo reads that the vault's door is green."

# What no member's role may do in SQL, whoever they say they are: each is tried in every role.
NEVER = (
    "SELECT * FROM daybook.members",
    "SELECT token FROM daybook.members WHERE name = 'cleo'",
    "UPDATE daybook.members SET role = 'curator'",
    "INSERT INTO daybook.members (name, role, token) VALUES ('eve', 'curator', 'x')",
    "DELETE FROM daybook.members",
    "DELETE FROM daybook.memories",
    "TRUNCATE daybook.memories CASCADE",
    "UPDATE daybook.changes SET author = 'nobody'",
    "DELETE FROM daybook.changes",
    "TRUNCATE daybook.changes",
    "INSERT INTO daybook.changes (memory, kind, author) VALUES (1, 'created', 'cleo')",
    "UPDATE daybook.memories SET author = daybook.member()",
    "UPDATE daybook.memories SET id = 'another'",
    "UPDATE daybook.memories SET digest = confirmed_digest",
    "UPDATE daybook.searched SET lexemes = ''",
    "DELETE FROM daybook.searched",
    "DELETE FROM daybook.passages",
    "INSERT INTO daybook.passages (memory, position, text, length) VALUES (1, 9, 'planted', 1)",
    "SELECT * FROM daybook.unembedded",
    "UPDATE daybook.team SET name = 'mine'",
    "DELETE FROM daybook.upgrades",
    "ALTER TABLE daybook.memories DISABLE ROW LEVEL SECURITY",
    "DROP POLICY read_living ON daybook.memories",
    "CREATE TABLE daybook.mine ()",
    "GRANT daybook_curator TO daybook_reader",
    "COPY daybook.memories TO PROGRAM 'cat'",
)
# What readers and writers may not do to what others wrote; each returns what it reached.
OTHERS = (
    "UPDATE daybook.memories SET said = jsonb_set(said, ARRAY['text'], to_jsonb('x'::text))"
    " WHERE author <> daybook.member() RETURNING 1",
    "UPDATE daybook.memories SET forgotten_at = now() WHERE id = '{id}' RETURNING 1",
    "UPDATE daybook.memories SET forgotten_at = NULL WHERE id = '{id}' RETURNING 1",
    "UPDATE daybook.memories SET confirmed_by = daybook.member(), confirmed_digest = digest"
    " WHERE id = '{id}' RETURNING 1",
    "INSERT INTO daybook.memories (id, said, author) VALUES ('{id}-2', '{{\"id\": \"{id}-2\"}}', 'anna')"
    " RETURNING 1",
    "INSERT INTO daybook.memories (id, said, author)"
    " VALUES ('{id}', '{{\"id\": \"{id}\"}}', daybook.member()) RETURNING 1",
    "SELECT 1 FROM daybook.memories WHERE forgotten_at IS NOT NULL AND author <> daybook.member()",
    "SELECT 1 FROM daybook.memories WHERE said::text LIKE '%vault''s door%'",
    "SELECT 1 FROM daybook.changes WHERE before::text LIKE '%vault''s door%'",
    "SELECT 1 FROM daybook.searched WHERE lexemes @@ 'vault'",
    "SELECT 1 FROM daybook.passages WHERE text LIKE '%vault''s door%'",
    "SELECT 1 FROM daybook.changes c WHERE memory IN (SELECT row FROM daybook.memories WHERE id = 'trashed')",
)


@pytest.fixture
def filled(opened: Opened) -> Opened:
    """The team with what anna wrote: something living, something confirmed, something forgotten."""
    anna, cleo = opened.by["anna"], opened.by["cleo"]
    anna.save(memory("living", "The webhook needs the raw body."))
    confirmed = anna.save(memory("confirmed", "Prices are net."))
    cleo.confirm("confirmed", digest=confirmed.digest)
    trashed = anna.save(memory("trashed", SECRET))
    anna.forget("trashed", digest=trashed.digest)
    return opened


def state(opened: Opened) -> list[Any]:
    """Return every row that a member's try must not have changed."""
    tables = ("members", "memories", "changes", "searched", "passages", "team", "upgrades", "unembedded")
    with psycopg.connect(opened.url) as db:
        return [db.execute(f"SELECT * FROM daybook.{table} ORDER BY 1").fetchall() for table in tables]


def in_sql(opened: Opened, name: str, statement: str) -> list[Any]:
    """Return what a member reaches with a *statement* in their role; it stays when it is not refused."""
    with psycopg.connect(opened.url) as db:
        db.execute(f"SET LOCAL ROLE daybook_{MEMBERS[name].value}".encode())
        db.execute("SELECT set_config('daybook.member', %s, true)", (name,))
        try:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else [()] * max(0, cursor.rowcount)
        except psycopg.Error:
            db.rollback()
            return []


def test_of_2000_random_tries_none_reads_or_changes_what_it_may_not(filled: Opened) -> None:
    before, chance = state(filled), random.Random(20)
    reached: list[tuple[str, str]] = []
    for _ in range(TRIES):
        way = chance.randrange(3)
        if way == 0:
            name, statement = chance.choice([*MEMBERS]), chance.choice(NEVER)
        elif way == 1:
            name = chance.choice(["rita", "bert"])
            statement = chance.choice(OTHERS).format(id=chance.choice(["living", "confirmed", "trashed"]))
        else:
            name, statement = chance.choice(["rita", "bert"]), chance.choice([*STORAGE])
            if STORAGE[statement](filled, name, chance.choice(["living", "confirmed", "trashed"])):
                reached.append((name, statement))
            continue
        if in_sql(filled, name, statement):
            reached.append((name, statement))

    assert reached == []
    assert state(filled) == before


def tried(opened: Opened, name: str, memory_id: str) -> Stored:
    """Return the newest version, as if the member had learnt its digest from somebody."""
    with psycopg.connect(opened.url) as db:
        rows = db.execute("SELECT digest FROM daybook.memories WHERE id = %s", (memory_id,)).fetchall()
    return Stored(memory(memory_id, f"Changed by {name}."), rows[0][0])


def _refused(call: Any) -> bool:
    try:
        call()
    except (NotAllowed, NotFound, Conflict):
        return False
    return True


STORAGE = {
    "change": lambda opened, name, memory_id: _refused(
        lambda: opened.by[name].save(
            tried(opened, name, memory_id).memory, replaces=tried(opened, name, memory_id).digest
        )
    ),
    "forget": lambda opened, name, memory_id: _refused(
        lambda: opened.by[name].forget(memory_id, digest=tried(opened, name, memory_id).digest)
    ),
    "restore": lambda opened, name, memory_id: _refused(lambda: opened.by[name].restore(memory_id)),
    "confirm": lambda opened, name, memory_id: _refused(
        lambda: opened.by[name].confirm(memory_id, digest=tried(opened, name, memory_id).digest)
    ),
    "history": lambda opened, name, memory_id: _refused(lambda: opened.by[name].history("trashed")),
    "load": lambda opened, name, memory_id: _refused(lambda: opened.by[name].load("trashed")),
}


def test_what_a_member_may_do_is_done(filled: Opened) -> None:
    anna, cleo = filled.by["anna"], filled.by["cleo"]
    stored = anna.load("living")
    changed = cleo.save(replace(stored.memory, text="Corrected by the curator."), replaces=stored.digest)
    assert changed.author == "anna"
    anna.save(replace(changed.memory, text="Said anew by its author."), replaces=changed.digest)
    assert [change.author for change in cleo.history("living")] == ["anna", "cleo", "anna"]
    assert cleo.restore("trashed").memory.text == SECRET
    assert anna.history("trashed")[-1].kind is ChangeKind.RESTORED
    assert filled.by["rita"].load("trashed").memory.text == SECRET
    assert in_sql(filled, "rita", "SELECT 1 FROM daybook.memories WHERE said::text LIKE '%vault''s door%'")


def test_a_change_takes_the_confirmation_away_and_the_old_words_bring_it_back(filled: Opened) -> None:
    anna = filled.by["anna"]
    first = anna.load("confirmed")
    assert (first.confirmed_by, [stored.memory.id for stored in anna.confirmed()]) == ("cleo", ["confirmed"])
    second = anna.save(replace(first.memory, text="Prices are gross."), replaces=first.digest)
    assert (second.confirmed_by, anna.confirmed()) == ("", ())
    anna.save(first.memory, replaces=second.digest)
    assert anna.load("confirmed").confirmed_by == "cleo"


def test_a_member_who_was_withdrawn_or_has_another_role_is_refused_at_once(filled: Opened) -> None:
    token = filled.team.issue("anna", Role.READER)
    with pytest.raises(NotAllowed, match="no longer a writer of this team"):
        filled.by["anna"].load("living")
    assert filled.team.member_of(token) == Member("anna", Role.READER)
    filled.team.withdraw("anna")
    assert filled.team.member_of(token) is None
    with pytest.raises(NotAllowed):
        filled.team.storage_for(Member("anna", Role.READER)).load("living")
    with pytest.raises(NotFound):
        filled.team.withdraw("anna")


@pytest.mark.parametrize(
    "words",
    [
        "x'); DROP TABLE daybook.memories; --",
        "%s",
        "' || (SELECT token::text FROM daybook.members) || '",
        "\\",
    ],
)
def test_words_are_never_sql(filled: Opened, words: str) -> None:
    anna = filled.by["anna"]
    before = state(filled)
    for call in (
        lambda: anna.load(words),
        lambda: anna.forget(words, digest=words),
        lambda: anna.restore(words),
        lambda: anna.history(words),
        lambda: anna.save(memory("living", words), replaces=words),
        lambda: filled.team.withdraw(words),
        lambda: filled.team.issue(words, Role.CURATOR),
    ):
        with pytest.raises(DaybookError):
            call()
    assert filled.team.member_of(words) is None
    assert anna.page(after=words) is not None
    assert state(filled) == before
    stored = anna.save(memory("injected", f"Text {words}", title=words, tags=(words,), category=words))
    assert anna.load("injected") == stored


def test_what_could_not_be_read_again_is_not_kept(opened: Opened) -> None:
    anna = opened.by["anna"]
    with pytest.raises(Rejected, match=r"'notes' has 20,000 characters; 16,384 is the limit."):
        anna.save(memory("a", "x", notes=("y" * 20_000,)))
    assert anna.page() == ()


def test_a_nul_character_is_refused_in_one_sentence(opened: Opened) -> None:
    anna = opened.by["anna"]
    for hostile in (memory("a", "x\0y"), memory("a", "x", title="a\0b"), memory("a", "x", tags=("\0",))):
        with pytest.raises(DaybookError, match="NUL"):
            anna.save(hostile)
    with pytest.raises(DaybookError, match="half a character"):
        anna.save(memory("a", "x\ud800y"))
    assert anna.save(memory("a", "it says \\u0000 in words")).memory.text == "it says \\u0000 in words"
    for call in (anna.load, anna.restore, anna.history):
        with pytest.raises(NotFound):
            call("\0")
