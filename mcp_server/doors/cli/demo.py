"""`daybook demo`: the main job on real input, in a store of its own that is left for looking at."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.session import restore_session, save_session
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Query
from mcp_server.core.text.titles import split_title
from mcp_server.doors.cli import output
from mcp_server.doors.shown.recall import TERMINAL, answered

MEMORIES = (
    (
        "gotcha",
        "billing,stripe",
        "Stripe webhook needs the raw request body | Body parsing middleware must be skipped for"
        " /webhook, or signature verification fails.",
    ),
    (
        "decision",
        "database",
        "Postgres instead of MySQL | We chose Postgres in March because the reports need window"
        " functions and partial indexes.",
    ),
    (
        "architecture",
        "frontend",
        "The shop is a Next.js app | Pages live in app/; the cart is kept on the server and"
        " revalidated by tag.",
    ),
    (
        "preference",
        "style",
        "Short commit messages | Commit subjects are imperative and below 60 characters.",
    ),
)
QUESTIONS = ("signature verification webhook", "which SQL database do we use for reporting, and why?")


@click.command("demo")
def demo_command() -> None:
    """Show Daybook at work: remember, edit, recall, save and restore a session.

    Example: daybook demo
    """
    place = Path(tempfile.mkdtemp(prefix="daybook-demo-"))
    project = place / "shop"
    project.mkdir()
    opened = Opened({**os.environ, "MEMORY_DIR": str(place / "memory")}, folder=project)
    store = opened.store()

    _say("Remember four things")
    files = []
    for type_, tags, words in MEMORIES:
        title, text = split_title(words)
        draft = Draft(title, text, type=type_, tags=tuple(tags.split(",")))
        if type_ == "preference":
            draft = replace(draft, level=Level.USER)
        stored = remember(store, draft)
        files.append(stored.path)
        click.echo(f"  {stored.memory.id}  ({stored.level.value})")

    _say("Each is a file that any editor can change")
    click.echo(_indented(files[0].read_text(encoding="utf-8")))

    _say("Edit one by hand: March becomes April")
    files[1].write_text(files[1].read_text(encoding="utf-8").replace("March", "April"), encoding="utf-8")
    sync(store)
    embed_pending(store)
    question = "when did we choose Postgres"
    output.print_shown(
        answered(recall(store, Query(question, limit=1)), question, advice=TERMINAL), texts=True
    )

    _say("Recall by words, and by meaning")
    for question in QUESTIONS:
        click.echo(click.style(f"  ? {question}", fg="cyan"))
        output.print_shown(
            answered(recall(store, Query(question, limit=1)), question, advice=TERMINAL), texts=True
        )

    _say("Save a session, and restore it")
    saved = save_session(
        store, "Webhook retries", "The retry queue is half done; backoff is missing.",
        files=["src/webhook.ts"], tasks=["add exponential backoff"], folder=project,
    )  # fmt: skip
    file, _ = restore_session(store, "latest", folder=project)
    click.echo(f"  {saved.memory.id}\n{_indented(file.memory.text)}")

    _say("Where the files are")
    for path in sorted((place / "memory").rglob("*.md")):
        click.echo(f"  {path}")
    click.echo(f"\nDelete {place} when you have seen enough. Your own store is {Opened().home}.")


def _say(headline: str) -> None:
    click.echo("\n" + click.style(headline, bold=True))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.rstrip().split("\n"))


COMMANDS = {"The store": (demo_command,)}
