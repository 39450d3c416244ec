"""The viewer of a scratch store, and Debian's Chromium to look at it with."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any
from urllib.parse import urljoin

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from mcp_server.bootstrap import Opened
from mcp_server.doors.viewer.serve import ViewerServer
from tests.patience import PATIENCE

Look = Callable[..., Page]
"""Opens a viewer in the browser, and gives its first page."""
CHROMIUM = shutil.which("chromium")
QUIET = [  # a browser that talks to nobody but the viewer
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # With RenderDocument, Chromium says that it closes a page that is just being loaded again, and does not
    # (crbug.com/536385539): then a test never ends. This list replaces Playwright's own, of which we need
    # that a page shows nothing of the one before it.
    "--disable-features=RenderDocument,PaintHolding",
]
SEEN_WHEN_WHOLE = """
    const hidden = new CSSStyleSheet();
    hidden.replaceSync(":root { visibility: hidden }");
    document.adoptedStyleSheets = [hidden];
    addEventListener("load", () => { document.adoptedStyleSheets = []; });
"""
"""
Hides a page until its scripts run: only then has it what a test looks for.

Before, a button works too, but what it does is answered by a page of its own.
"""
expect.set_options(timeout=PATIENCE * 1000 / 4)  # else five seconds, which a busy machine may need


class Viewing:
    """A viewer that runs in a thread; `link` opens it once."""

    def __init__(self, opened: Opened, *, read_only: bool = False) -> None:
        self.server = ViewerServer(opened, read_only=read_only)
        self.link = self.server.link
        self._thread = Thread(target=self.server.run, daemon=True)
        self._thread.start()

    def wait_for_end(self) -> None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def end(self) -> None:
        self.server.end()
        self.wait_for_end()


@pytest.fixture
def viewing() -> Iterator[Callable[..., Viewing]]:
    """Start viewers, and end them with the test."""
    started: list[Viewing] = []

    def start(opened: Opened, *, read_only: bool = False) -> Viewing:
        started.append(Viewing(opened, read_only=read_only))
        return started[-1]

    yield start
    for process in started:
        process.end()


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """
    A browser for the tests of this folder, since each costs a second of the processor to start.

    While it runs, no test can run an event loop of its own.
    """
    if not CHROMIUM:
        pytest.skip("needs Debian's Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@contextmanager
def _watched(context: BrowserContext) -> Iterator[BrowserContext]:
    """Let a test fail when a page throws, breaks its security policy or asks anybody but the viewer."""
    wrong: list[str] = []

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: wrong.append(f"thrown: {error}"))
        page.on("console", lambda line: wrong.append(line.text) if "Content Security" in line.text else None)

    context.add_init_script(SEEN_WHEN_WHOLE)
    context.on("page", watch)
    context.on(
        "request", lambda request: request.url.startswith("http://127.0.0.1:") or wrong.append(request.url)
    )
    context.set_default_timeout(PATIENCE * 1000 / 4)
    yield context
    context.close()
    assert not wrong


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser in which nobody has looked at anything yet."""
    with _watched(chromium.new_context()) as watched:
        yield watched


@pytest.fixture
def look(opened: Opened, viewing: Callable[..., Viewing], context: BrowserContext) -> Look:
    """
    Open the viewer of the store, of another or one that runs, in the browser, and give its first page.

    The browser goes first at the end, and then the viewer, whose connections it has closed.
    """

    def open_(of: Opened | Viewing = opened, *, read_only: bool = False) -> Page:
        page = context.new_page()
        running = of if isinstance(of, Viewing) else viewing(of, read_only=read_only)
        page.goto(running.link)
        return page

    return open_


def go(page: Page, label: str) -> Any:
    """Go to the page that the navigation calls *label*, and wait for its scripts."""
    with page.expect_navigation():
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=label, exact=True).click()


def at(page: Page, path: str) -> None:
    """Go to the page at *path* of the viewer that *page* looks at."""
    page.goto(urljoin(page.url, f"{page.locator('body').get_attribute('data-base')}{path}"))


def serious_findings(page: Page, *rules: str) -> list[str]:
    """Return what axe finds wrong with the page as it is shown now, by all *rules* if none is named."""
    options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    violations = Axe().run(page, options=options).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:120]}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def findings(page: Page) -> list[str]:
    """Return what axe finds wrong with the page in light, and with its colours in dark."""
    wrong = []
    for scheme, rules in (("light", ()), ("dark", ("color-contrast",))):
        page.emulate_media(color_scheme=scheme)
        wrong += [f"{scheme} {finding}" for finding in serious_findings(page, *rules)]
    return wrong
