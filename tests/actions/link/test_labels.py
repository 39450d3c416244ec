"""A label in whatever script and of whatever length, by whichever way it came, is taken back by every way."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.graph.kg import delete_edge, put_edge
from mcp_server.actions.memory.link import link, unlink
from mcp_server.core.links import MAX_LABEL
from mcp_server.core.memory import Link
from mcp_server.store import Store
from tests.actions.imports.imported import memories
from tests.actions.link.linked import links_of, remembered
from tests.importing import import_from

SCRIPTS = (
    "depends-on", "Must load_before", "hängt ab von", "hängt ab von".upper(), "ha\u0308ngt ab von",
    "зависит от", "εξαρτάται από", "يعتمد على", "תלוי ב", "निर्भर करता है", "ขึ้นอยู่กับ", "依存する",
    "의존한다", "ﬁts in", "x" * 41, "ä" * MAX_LABEL,
)  # fmt: skip
Ends = tuple[str, str]


def linked(store: Store, folder: Path, label: str) -> Ends:
    ends = remembered(store, "Webhook"), remembered(store, "Billing")
    link(store, *ends, label)
    return ends


def put_edges(store: Store, folder: Path, label: str) -> Ends:
    ends = remembered(store, "Webhook"), remembered(store, "Billing")
    put_edge(store, read(store, ends[0]).vault.level, *ends, label)
    return ends


def imported(store: Store, folder: Path, label: str) -> Ends:
    lines = [{"type": "entity", "name": name, "observations": ["is used"]} for name in ("Webhook", "Billing")]
    lines.append({"type": "relation", "from": "Webhook", "to": "Billing", "relationType": label})
    source = folder / "memory.jsonl"
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    import_from(store, "memory-jsonl", source)
    by_title = memories(store)
    return by_title["Webhook"].id, by_title["Billing"].id


def write_by_hand(store: Store, folder: Path, label: str) -> Ends:
    ends = remembered(store, "Webhook"), remembered(store, "Billing")
    file = read(store, ends[0]).path
    text = file.read_text(encoding="utf-8")
    links = f"---\nlinks:\n  - {{rel: {json.dumps(label, ensure_ascii=False)}, to: {ends[1]}}}\n"
    file.write_text(text.replace("---\n", links, 1), encoding="utf-8")
    sync(store)
    return ends


def unlinked(store: Store, ends: Ends, label: str) -> bool:
    return unlink(store, *ends, label).changed


def deleted(store: Store, ends: Ends, label: str) -> bool:
    return delete_edge(store, read(store, ends[0]).vault.level, *ends, label)


WAYS_IN = (linked, put_edges, imported, write_by_hand)
WAYS_OUT = (unlinked, deleted)


@pytest.mark.parametrize("label", SCRIPTS)
@pytest.mark.parametrize(("way_in", "way_out"), [*zip(WAYS_IN, WAYS_OUT * 2, strict=True)])
def test_what_was_linked_is_there_once_and_taken_back_by_the_same_words(
    store: Store,
    tmp_path: Path,
    way_in: Callable[[Store, Path, str], Ends],
    way_out: Callable[[Store, Ends, str], bool],
    label: str,
) -> None:
    ends = way_in(store, tmp_path, label)

    assert not link(store, *ends, label).changed
    assert not put_edge(store, read(store, ends[0]).vault.level, *ends, label).added
    ((label_shown, _, _),) = links_of(store, ends[0])
    assert not link(store, *ends, label_shown).changed
    assert way_out(store, ends, label)
    assert links_of(store, ends[0]) == []


@pytest.mark.parametrize("label", ["a label of many words " * 5, "→"])
@pytest.mark.parametrize("way_out", WAYS_OUT)
def test_a_label_that_only_a_file_can_say_is_taken_back(
    store: Store, tmp_path: Path, way_out: Callable[[Store, Ends, str], bool], label: str
) -> None:
    assert way_out(store, write_by_hand(store, tmp_path, label), label)


@pytest.mark.parametrize(
    ("label", "former"), [("hängt ab von", "h-ngt-ab-von"), ("निर्भर करता है", "न-र-भर-करत-ह")]
)
@pytest.mark.parametrize("way_out", WAYS_OUT)
def test_what_an_earlier_version_made_of_the_words_is_meant_by_them(
    store: Store, tmp_path: Path, way_out: Callable[[Store, Ends, str], bool], label: str, former: str
) -> None:
    ends = write_by_hand(store, tmp_path, former)

    assert not link(store, *ends, label).changed
    assert way_out(store, ends, label)


def test_words_mean_what_an_earlier_version_made_of_others_only_where_nothing_says_them(
    store: Store, tmp_path: Path
) -> None:
    ends = write_by_hand(store, tmp_path, "h-ngt")
    level = read(store, ends[0]).vault.level
    link(store, *ends, "hangt")

    assert not delete_edge(store, level, *ends, "contradicts")
    assert delete_edge(store, level, *ends, "hangt")
    assert read(store, ends[0]).memory.links == (Link("h-ngt", ends[1]),)
