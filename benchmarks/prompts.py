"""
What accompanies the prompts of a project: `python benchmarks/prompts.py FOLDER… [--use-when FILE]`.

FOLDER is a project: `memories.jsonl` {id, type, title, text, tags, touches} and `prompts.jsonl` {id, text,
useful}, where `useful` names the memories worth showing with a prompt, none for most. What stands before the
number in the id of a prompt is its kind. With --use-when the memories have the occasions of a file of the
project: `use_when.jsonl`, which somebody wrote who saw the memories alone, as Claude does who stores them, or
`use_when_asked.jsonl`, the answers to what Daybook asks about memories that have few or none. What a second
file has is added, as Daybook adds it.
All memories lie in a new store, and every prompt is the first of a session.
"""

import json
import math
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from mcp_server.actions.context.brief import brief
from mcp_server.actions.context.inject import inject
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.bootstrap import Opened
from mcp_server.core.list_key import extended
from mcp_server.core.memory import USE_WHEN, Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store

FIRST = 3  # of what is shown, among which a useful memory must be
FIGURES = ("recall", "recall of text", "precision of text", "disturbed by text", "by a pointer", "in context")
_TOLD = re.compile(r"^- (?:\[(?P<text>[^\]]+)\]|.* \((?P<pointer>[a-z0-9-]+)\)$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """
    What came with one prompt: ids of the project in the order shown, those given as `text` apart.

    `known` tells whether the title of a useful one stands in the brief or came with the prompt.
    """

    prompt: str
    kind: str
    useful: frozenset[str]
    order: tuple[str, ...]
    text: tuple[str, ...]
    known: bool

    @property
    def recalled(self) -> bool:
        return bool(self.useful & {*self.order[:FIRST]})

    @property
    def told(self) -> bool:
        return bool(self.useful & {*self.text} & {*self.order[:FIRST]})


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--around", default=0, help="That many other memories of the same project stand around them.")
@click.option(
    "--use-when", multiple=True, metavar="FILE", help="This file of each has occasions of the memories."
)
@click.option("--json", "as_json", is_flag=True, help="Print what came with every prompt, to compare runs.")
@click.option("--before", type=click.Path(exists=True, path_type=Path), help="Such a run to compare with.")
def main(
    folders: Sequence[Path], around: int, use_when: Sequence[str], as_json: bool, before: Path | None
) -> None:
    """Measure what the prompts of each of FOLDERS are accompanied by."""
    prompts_by_project = {folder.name: measured(folder, around, use_when=use_when) for folder in folders}
    state = {
        f"{name} {prompt_shown.prompt}": _outcome(prompt_shown)
        for name, prompts_shown in prompts_by_project.items()
        for prompt_shown in prompts_shown
    }
    if as_json:
        click.echo(json.dumps(state, indent=1))
        return
    every = [prompt_shown for prompts_shown in prompts_by_project.values() for prompt_shown in prompts_shown]
    rows = [
        [name, *figures(prompts_shown).values()]
        for name, prompts_shown in [*prompts_by_project.items(), ("all", every)]
    ]
    click.echo(tabulate(rows, headers=["project", *FIGURES], floatfmt=".2f"))
    kinds = list(dict.fromkeys(prompt_shown.kind for prompt_shown in every))
    of_kind = [[prompt_shown for prompt_shown in every if prompt_shown.kind == kind] for kind in kinds]
    rows = [[kind, len(some), *figures(some).values()] for kind, some in zip(kinds, of_kind, strict=True)]
    click.echo("\n" + tabulate(rows, headers=["kind", "prompts", *FIGURES], floatfmt=".2f"))
    if before:
        state_before = json.loads(before.read_text(encoding="utf-8"))
        changed = [
            (name, state_before.get(name), now)
            for name, now in state.items()
            if state_before.get(name) != now
        ]
        click.echo("\n" + tabulate(changed, headers=["prompt", "before", "now"]))


def measured(folder: Path, around: int = 0, *, use_when: Sequence[str] = ()) -> list[Shown]:
    """Return what comes with each prompt of the project in *folder*; the rest is as for `stored`."""
    with tempfile.TemporaryDirectory() as place:
        opened, store, names = stored(folder, Path(place), around, use_when=use_when)
        start = brief(store).text
        titles = {row["id"]: row["title"] for row in rows_of(folder / "memories.jsonl")}
        prompts_shown = [
            _shown(store, prompt, names, titles, start) for prompt in rows_of(folder / "prompts.jsonl")
        ]
        opened.database.close()
    return prompts_shown


def stored(
    folder: Path, place: Path, around: int = 0, *, use_when: Sequence[str] = ()
) -> tuple[Opened, Store, dict[str, str]]:
    """
    Return a store at *place* with the project of *folder*, and id → the name it has in the project.

    *around* other memories stand beside the project's, which have the occasions of the files
    *use_when*.
    """
    occasions: dict[str, tuple[str, ...]] = {}
    for row in (row for name in use_when for row in rows_of(folder / name)):
        occasions[row["id"]] = extended(occasions.get(row["id"], ()), row["use_when"], USE_WHEN.most)
    root = place / "project"
    root.mkdir()
    opened = Opened({"MEMORY_DIR": str(place / "memory"), "EMBEDDING_MODEL": "minilm-l6"}, folder=root)
    store = opened.store()
    names = {}
    saids = [*rows_of(folder / "memories.jsonl"), *others(around)]
    random.Random(0).shuffle(saids)  # what is asked for is not what was stored first
    touched = {path for record in saids for path in record["touches"]}
    for path in sorted(touched, key=len, reverse=True):  # a folder after what lies in it
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    for record in saids:
        draft = Draft(
            record["title"],
            record["text"],
            type=record["type"],
            tags=tuple(record["tags"]),
            touches=tuple(record["touches"]),
            use_when=occasions.get(record["id"], ()),
            level=Level.PROJECT,
        )
        names[remember(store, draft).memory.id] = record["id"]
    embed_pending(store)
    return opened, store, names


def figures(prompts_shown: Sequence[Shown]) -> dict[str, float]:
    """Return each of FIGURES, not a number where there is nothing to count."""
    calling = [prompt_shown for prompt_shown in prompts_shown if prompt_shown.useful]
    others = [prompt_shown for prompt_shown in prompts_shown if not prompt_shown.useful]
    texts = [(prompt_shown, name) for prompt_shown in prompts_shown for name in prompt_shown.text]
    values = (
        _share(prompt_shown.recalled for prompt_shown in calling),
        _share(prompt_shown.told for prompt_shown in calling),
        _share(name in prompt_shown.useful for prompt_shown, name in texts),
        _share(bool(prompt_shown.text) for prompt_shown in others),
        _share(len(prompt_shown.order) > len(prompt_shown.text) for prompt_shown in others),
        _share(prompt_shown.known for prompt_shown in calling),
    )
    return dict(zip(FIGURES, values, strict=True))


PARTS = (
    "address book, archive viewer, audit trail, avatar upload, backup rotation, badge printer, "
    "calendar sync, call recorder, canteen menu, chat widget, chart renderer, coupon engine, "
    "currency table, data import, diff view, email digest, error page, feedback form, file scanner, "
    "footer links, geocoder, help centre, holiday list, icon set, image resizer, inbox filter, "
    "invoice layout, key rotation, label editor, landing page, leaderboard, link checker, loyalty "
    "points, mail parser, merge tool, newsletter, onboarding tour, password reset, payment retry, "
    "photo gallery, poll widget, price alert, print queue, product feed, profile page, quota meter, "
    "rating stars, refund form, release notes, report builder, room planner, search index, session "
    "store, shift plan, sitemap, spam filter, stock counter, survey, tag cloud, thumbnail cache, "
    "ticket queue, time sheet, upload form, video player, visitor log, voucher, warehouse map, "
    "weather panel, webhook relay, wish list"
).split(", ")
SAYINGS = (
    (
        "architecture",
        "The {part} is a service of its own",
        "It has a queue and a table that nothing else reads.",
    ),
    ("gotcha", "The {part} breaks on empty rows", "Skip them before the loop, or the whole run stops."),
    ("decision", "No new library for the {part}", "We tried two, both were slower than forty lines of ours."),
    (
        "pattern",
        "Every change of the {part} has a fixture",
        "They lie beside the code and are made by a script.",
    ),
    ("reference", "Where the {part} is described", "The page in the handbook has a drawing and a contact."),
)


def others(number: int) -> Iterator[dict[str, Any]]:
    """Yield that many memories about parts that no project here has; at most 350."""
    for at in range(number):
        type, title, text = SAYINGS[at // len(PARTS)]
        part = PARTS[at % len(PARTS)]
        title = title.format(part=part)
        yield {"id": f"other-{at}", "type": type, "title": title, "text": text, "tags": [], "touches": []}


def _shown(
    store: Store, prompt: dict[str, Any], names: dict[str, str], titles: dict[str, str], start: str
) -> Shown:
    context = inject(store.in_session(f"session-{prompt['id']}"), prompt["text"])
    memories_told = [
        (match["text"] or match["pointer"], bool(match["text"])) for match in _TOLD.finditer(context)
    ]
    return Shown(
        prompt=prompt["id"],
        kind=prompt["id"].rpartition("-")[0],
        useful=frozenset(prompt["useful"]),
        order=tuple(names[memory] for memory, _ in memories_told),
        text=tuple(names[memory] for memory, whole in memories_told if whole),
        known=any(titles[name] in start + context for name in prompt["useful"]),
    )


def _outcome(prompt_shown: Shown) -> str:
    marked = (name.upper() if name in prompt_shown.text else name for name in prompt_shown.order)
    return f"{' '.join(sorted(prompt_shown.useful)) or 'nothing'} ← {' '.join(marked)}"


def _share(values: Iterator[bool]) -> float:
    counted = [*values]
    return sum(counted) / len(counted) if counted else math.nan


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return what the lines of the JSON lines file at *path* say."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()
