"""What the command line prints: tables for people, JSON for programs."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.adapters.parent_processes import SESSION
from mcp_server.bootstrap import Opened
from mcp_server.core.bounds import session_id
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import Level
from mcp_server.core.render import on_one_line, shortened, visible
from mcp_server.core.secrets.redaction import redact
from mcp_server.doors.block_follows import follow, noted
from mcp_server.doors.cli import person
from mcp_server.doors.shown import Shown, cells, trouble
from mcp_server.store import Store, unwatched

MANY = 1000  # files that are read in about a second
TITLE = 60  # characters of a title in a table; ids and words to type stay whole


class _Levels(click.Choice[Level]):
    """Levels as they are typed: click would offer the names of the enumeration's members."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        return str(choice)


LEVELS = _Levels(Level)
OWN_LEVELS = _Levels([Level.USER, Level.PROJECT])


def _note_json(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    context.meta[__name__] = wanted


as_json: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, expose_value=False, callback=_note_json, help="Print JSON."
)
"""Gives a command the option `--json`, which `print_shown` follows."""


def wants_json() -> bool:
    """Tell whether the command that runs was asked for JSON."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(__name__, False)


def opened(*, wait_for_model: bool = True, searches: bool = False, takes_in: bool = False) -> Opened:
    """
    Open the store as seen from the working directory; the command ends with its remarks on stderr.

    What *searches* looks afterwards whether the index is whole, when that is due. What notes something in the
    ledger, or *takes_in* the edits of others, lets the block in CLAUDE.md follow.
    """
    opened = Opened(wait_for_model=wait_for_model, by=person.who_types)
    session = session_id(opened.environment.get(SESSION))
    opened.session = lambda: session
    opened.reading = _reading
    before = -1 if takes_in else noted(opened)
    click.get_current_context().call_on_close(lambda: _end(opened, searches=searches, before=before))
    return opened


def synced() -> Store:
    """Open the store as `opened` does, and take in what changed in its files unless another process does."""
    store = opened().store()
    sync_if_free(store)
    return store


def _end(opened: Opened, *, searches: bool, before: int) -> None:
    try:
        sys.stdout.flush()
    finally:  # it may be closed, as that of `daybook revise ... | head -1`; what was asked for is done
        follow(opened, since=before)
    if searches and opened.look_is_due() and opened.finds_damage():
        click.echo(
            "daybook: The index was damaged and has been moved aside; try again for all answers.", err=True
        )
    for sentence in trouble.remarks(opened.remarks(), refusal=sys.exception()):
        click.echo(f"daybook: {on_one_line(sentence)}", err=True)


def write_for_person(path: Path, text: str) -> None:
    """
    Write *text* into a file that the person names; a new one has the mode that their umask gives it.

    Where the disk refuses, a new file is deleted again, and Rejected is raised.
    """
    umask = click.get_current_context().find_root().obj
    before = os.umask(umask) if isinstance(umask, int) else None
    is_new = not os.path.lexists(path)
    try:
        with writing(path):
            path.write_text(text, encoding="utf-8")
    except Rejected:
        if is_new:
            with contextlib.suppress(OSError):  # on a read-only disk there is none
                path.unlink()
        raise
    finally:
        if before is not None:
            os.umask(before)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turn what the disk refuses of *target*, a path that the person named, into Rejected."""
    try:
        yield
    except OSError as error:
        whole, refused = (Path(os.path.realpath(path)) for path in (target, error.filename or target))
        if not refused.is_relative_to(whole) and refused.parent != whole.parent:
            raise
        raise Rejected(
            f"{target} cannot be written: {error.strerror or error}.", "Name a place where you may write."
        ) from error


def print_json(value: object) -> None:
    """Print *value* as JSON; what JSON does not know, as a path, becomes text."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_shown(shown: Shown, *, texts: bool = False) -> None:
    """Print a result for a person, with *texts* what memories say; with `--json` for a program."""
    if wants_json():
        print_json(shown.json)
        return
    for table in (shown, *(below for below in shown.below if below.rows)):
        if table is not shown:
            click.echo("")
        if table.head:
            click.echo(_line(table.head))
        _print_rows(table, texts=texts)
        if table.body:
            click.echo(_harmless(table.body).rstrip())
    if shown.offset is not None and shown.total > (next := shown.offset + len(shown.rows)):
        click.echo(f"{shown.total - next} more: --offset {next}")
    for note in shown.notes:
        click.echo(_line(note))


def _print_rows(table: Shown, *, texts: bool) -> None:
    if texts and table.texts:
        for row, text in zip(table.rows, table.texts, strict=True):
            click.echo(_line("  ".join(cells(table, row))))
            click.echo("\n".join(f"   {line}" for line in _harmless(text).splitlines()))
    elif table.headers and table.rows:
        used = [any(cell not in ("", None) for cell in column) for column in zip(*table.rows, strict=True)]
        headers = [name.rstrip(":") for name in compress(table.headers, used)]
        rows = [_titles_cut(headers, list(compress(row, used))) for row in table.rows]
        from tabulate import tabulate  # slow to import

        click.echo(tabulate(rows, headers, tablefmt="simple"))
    elif table.rows:
        width = max((len(str(row[0])) for row in table.rows if len(row) > 1), default=0)
        for name, *value in table.rows:
            click.echo(_line(f"{name:<{width}}  {value[0]}" if value else str(name)))


def say(sentence: str) -> None:
    """Print a sentence, in which a folder or an address may have control characters and line feeds."""
    click.echo(_harmless(on_one_line(sentence)))


def _line(text: str) -> str:
    """Return *text* harmless, as one line with its columns: a file may have a line feed in its name."""
    return _harmless(" ".join(text.splitlines()))


def _harmless(text: str) -> str:
    """Return *text* without secrets and control characters: Claude may have typed the command."""
    return visible(redact(text))


def _titles_cut(headers: Sequence[str], row: Sequence[object]) -> list[str]:
    cells = zip(headers, (_line(str(cell)) for cell in row), strict=True)
    return [shortened(cell, TITLE) if name == "title" else cell for name, cell in cells]


def bar(total: int, label: str) -> Any:
    """Return a bar of click on stderr, hidden where that is no terminal: its label alone would be printed."""
    return click.progressbar(length=total, label=label, file=sys.stderr, hidden=not sys.stderr.isatty())


@contextlib.contextmanager
def progress(total: int, label: str, *, stopped: str = "") -> Iterator[Callable[[int], None]]:
    """
    Show a progress bar on stderr where that is a terminal, and give what moves it on.

    *stopped* is what a person who ends the work with Ctrl-C is told about the part that is done.
    """
    try:
        with bar(total, label) as shown_bar:
            yield shown_bar.update
    except KeyboardInterrupt:
        raise click.Abort(stopped) from None


def _reading(files: int) -> contextlib.AbstractContextManager[Callable[[int], None]]:
    """Show a person at a terminal how far the reading of *files* is, when that takes a while."""
    shown = sys.stdout.isatty() and sys.stderr.isatty() and not wants_json()
    return progress(files, "Reading files") if shown and files >= MANY else unwatched(files)


@contextlib.contextmanager
def waiting(sentence: str) -> Iterator[None]:
    """Show *sentence* on a terminal's stderr until the work ends, which may wait for a model."""
    if not sys.stderr.isatty():
        yield
        return
    click.echo(sentence, nl=False, err=True)
    try:
        yield
    finally:
        click.echo(f"\r{' ' * len(sentence)}\r", nl=False, err=True)
