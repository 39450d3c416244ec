"""The command that opens the viewer: view."""

import contextlib
import os
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

import click

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.core.errors import Rejected
from mcp_server.doors.cli import output, person
from mcp_server.doors.cli.typed_parameters import heed_only

NO_BROWSER = "No browser can be opened from here."
NO_LINK = "The link to the viewer is only printed in your own terminal, and this is not one."
OPEN = "The viewer is open until Ctrl-C, or until nobody has used it for thirty minutes."
LOOKING_ONLY = "It is read-only: for changes, type 'daybook view' in your own terminal."
IN_TERMINAL = ("www-browser", "elinks", "links", "lynx", "w3m")


@click.command("view")
@click.option("--read-only", is_flag=True, help="Let nobody change anything on the page.")
@click.option("--no-open", is_flag=True, help="Print the link instead of opening the browser.")
@click.option("--export", "file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.html")
def view_command(read_only: bool, no_open: bool, file: Path | None) -> None:
    """Open the viewer: a page in the browser with all that Daybook knows.

    Only this machine can open it. It ends with Ctrl-C, or when nobody uses it for thirty minutes. '--export'
    writes the pages into one read-only file instead.

    Example: daybook view
    """
    if file:
        heed_only("--export", where="with --export")
        _export(file)
        return
    theirs = person.is_here()
    if no_open and not theirs:
        raise Rejected(NO_LINK, "Leave out --no-open, or type it in a terminal.")
    opened = output.opened(wait_for_model=False)
    browser = None if no_open else _browser(opened.environment)
    from mcp_server.doors.viewer.serve import ViewerServer  # slow to load

    server = ViewerServer(opened, read_only=read_only or not theirs)
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how a person ends it
        if browser:
            # A browser that is not running yet may stay in the foreground until it is closed.
            Thread(target=browser.open, args=(server.link,), daemon=True).start()
        else:
            click.echo(f"Open {server.link}")
        click.echo(OPEN if theirs else f"{OPEN} {LOOKING_ONLY}")
        server.run()


def _export(file: Path) -> None:
    from mcp_server.doors.viewer.export import export  # slow to load

    opened = output.opened(wait_for_model=False)
    sync_if_free(opened.store())  # a first time takes long, and is shown by itself
    with output.bar(1, "Pages") as bar:

        def step(_: int, total: int) -> None:
            bar.length = total
            bar.update(1)

        text = export(opened, step)
    output.write_for_person(file, text)
    output.say(f"Written into {file}. It contains your memories: be careful who gets it.")


def _browser(environment: Mapping[str, str]) -> webbrowser.BaseBrowser:
    """
    Return the person's browser; raise Rejected when there is none.

    Only *environment* chooses the program: our own may hold what a repository's settings added. A browser
    inside the terminal does not count, as it would show the page to whoever reads there.
    """
    for name in {"BROWSER", "PATH"} & {*os.environ}:
        if os.environ[name] != environment.get(name):
            del os.environ[name]
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        browser = None
    if browser is None or os.path.basename(browser.name) in IN_TERMINAL:
        raise Rejected(NO_BROWSER, "Type 'daybook view --no-open' in a terminal: it prints the link.")
    return browser


COMMANDS = {"The store": (view_command,)}
