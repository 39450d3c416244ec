"""Open questions between what a project says and what holds everywhere."""

import pytest

from mcp_server.actions.context.brief import brief
from mcp_server.actions.files.read import read
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.review.entries import Became, Verdict
from mcp_server.actions.review.review import review
from mcp_server.actions.review.review import settle as answered
from mcp_server.core.memory_parts import Level
from mcp_server.doors.shown.review import choices, why
from mcp_server.store import Store
from tests.actions.test_open_questions import SIXTY, THIRTY, asked_pairs, questions
from tests.conftest import Clock
from tests.memories import decided


@pytest.mark.parametrize("embedded", [False, True])
@pytest.mark.parametrize("first", [Level.USER, Level.PROJECT])
def test_a_project_and_the_person_who_differ_are_a_question_there_alone(
    meaning_store: Store, elsewhere: Store, clock: Clock, first: Level, embedded: bool
) -> None:
    last = Level.PROJECT if first is Level.USER else Level.USER
    older = decided(meaning_store, THIRTY, level=first)
    clock.pass_days(1)
    newer = decided(meaning_store, SIXTY, level=last)
    if embedded:
        embed_pending(meaning_store)

    assert asked_pairs(meaning_store) == [(newer, older)]
    assert asked_pairs(elsewhere) == []


def test_what_a_project_replaces_of_the_persons_holds_elsewhere(
    store: Store, elsewhere: Store, clock: Clock
) -> None:
    older = decided(store, THIRTY, level=Level.USER)
    clock.pass_days(1)
    newer = decided(store, SIXTY, level=Level.PROJECT)
    before = read(store, older).data
    (entry,) = review(store).entries
    assert entry.name == f"{newer}+{older}"
    assert why(entry).endswith("; the first is this project's, the second holds everywhere")
    assert entry.answers == (Verdict.REPLACES, Verdict.KEEP_BOTH, Verdict.LATER)
    assert "shadows the second in this project" in choices(entry)["replaces"]

    assert answered(store, entry, Verdict.REPLACES) is Became.SHADOWED

    assert read(store, older).data == before
    assert THIRTY not in brief(store).text
    assert THIRTY in brief(elsewhere).text
    assert asked_pairs(store) == []


def test_a_later_word_for_everywhere_replaces_the_projects(store: Store, clock: Clock) -> None:
    older = decided(store, THIRTY, level=Level.PROJECT)
    clock.pass_days(1)
    newer = decided(store, SIXTY, level=Level.USER)
    (entry,) = review(store).entries
    assert why(entry).endswith("; the first holds everywhere, the second is this project's")
    assert "replaces this project's" in choices(entry)["replaces"]

    assert answered(store, entry, Verdict.REPLACES) is Became.REPLACED

    assert read(store, older).memory.superseded_by == newer
    assert asked_pairs(store) == []


def test_of_the_same_words_at_both_levels_those_for_everywhere_are_told(store: Store, clock: Clock) -> None:
    everywhere = decided(store, SIXTY, level=Level.USER)
    clock.pass_days(1)
    of_project = decided(store, SIXTY, level=Level.PROJECT)

    (question,) = questions(store)

    assert (question.holds.id, question.gives_way.id) == (everywhere, of_project)
    assert brief(store).text.count(SIXTY) == 1


def test_what_stands_in_for_the_persons_word_leaves_no_question_about_it(store: Store, clock: Clock) -> None:
    older = decided(store, THIRTY, level=Level.USER)
    clock.pass_days(1)
    decided(store, SIXTY, level=Level.PROJECT)
    assert len(asked_pairs(store)) == 1

    decided(store, "Uploads never end here", level=Level.PROJECT, supersedes=(older,))

    assert asked_pairs(store) == []
