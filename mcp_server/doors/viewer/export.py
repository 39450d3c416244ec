"""
export: the viewer's pages as one file, for looking at only, without a server.

The pages are those that a viewer for looking serves; a link from one to another leads there within the file.
What would ask the server is left out or hidden; parts of a page that open are in it already. Secrets
are masked, because others may look at the file: in each run of text by itself, so that no tag is lost.
"""

import asyncio
import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from urllib.parse import parse_qsl, unquote, urlsplit

from markupsafe import Markup
from starlette.types import ASGIApp, Message, Scope

from mcp_server.bootstrap import Opened
from mcp_server.core.secrets.redaction import redact
from mcp_server.doors.viewer.application import application
from mcp_server.doors.viewer.page import STATIC, Viewer, rendered

BASE = "/page"  # what the addresses of the pages begin with while they are collected
FIRST = ("/", "/memories", "/graph", "/shown", "/insight", "/changes")
FOLLOWED = re.compile(r"/|/memories|/changes|/graph/links|/memories/[^/]+(?:/history)?")
PART = re.compile(r"/sessions/[^/]+|/waiting")  # what another page loads into itself
LATER = ("toggle", "load")  # when such a part is asked for
MORE = {"from", "offset", "page"}  # the fields of an address that lead on in a list
SCRIPTED = ("/graph", "/insight")  # pages that are drawn in the browser
OF_SERVER = ("htmx.min.js", "viewer.js", "live.js")  # scripts that need the server
VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})
HEAD = re.compile(r'<(?:link rel="stylesheet" href|script src)="(?P<address>[^"]+)"')
TITLE = re.compile(r"<title>(?P<title>.*?) · Daybook</title>", re.DOTALL)
MAIN = re.compile(r"<main\b[^>]*>(?P<main>.*)</main>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """A page: its address and title, and the HTML of what is in it. The last two hold no unsafe text."""

    address: str
    title: Markup
    html: Markup


def export(opened: Opened, step: Callable[[int, int], None]) -> str:
    """
    Return the viewer's pages as one HTML document.

    *step* is called after each page with how many are collected, and how many are known of so far.
    Raises DaybookError.
    """
    return asyncio.run(_Collection(opened).document(step))


def leads_to(address: str) -> bool:
    """Tell whether the page at *address* is in the file: not one for changes, nor a list with a filter."""
    place = urlsplit(address)
    fields = {name for name, _ in parse_qsl(place.query)}
    return bool(FOLLOWED.fullmatch(place.path) or place.path in FIRST) and fields <= (
        {"project", "vault"} if place.path.startswith("/memories/") else MORE
    )


class _Collection:
    """The pages that links have led to so far, and what their heads name: style sheets and scripts."""

    def __init__(self, opened: Opened) -> None:
        self._app: ASGIApp = application(Viewer(opened, BASE, read_only=True))
        self._addresses = dict.fromkeys(FIRST)
        self._styles: dict[str, None] = {}
        self._scripts: dict[str, list[str]] = {}  # with the pages that they are for

    async def document(self, step: Callable[[int, int], None]) -> str:
        pages: list[ExportedPage] = []
        while len(pages) < len(self._addresses):
            pages.append(await self._page([*self._addresses][len(pages)]))
            step(len(pages), len(self._addresses))
        style = "\n".join([await self._get(address) for address in self._styles])
        scripts = [(" ".join(of), await self._get(address)) for address, of in self._scripts.items()]
        own = (STATIC / "exported.js").read_text(encoding="utf-8")
        return rendered(
            "exported.html",
            pages=pages,
            nav=pages[: len(FIRST)],
            style=Markup(style),  # noqa: S704 - this and the scripts are files of ours
            scripts=[(of, Markup(text)) for of, text in scripts],  # noqa: S704
            own=Markup(own),  # noqa: S704
            style_digest=_digest(style),
            script_digests=[_digest(text) for text in (own, *(text for _, text in scripts))],
        )

    async def _page(self, address: str) -> ExportedPage:
        text = await self._get(address)
        for head in HEAD.finditer(text):
            needed = head["address"].removeprefix(BASE)
            if needed.endswith(".css"):
                self._styles[needed] = None
            elif address in SCRIPTED and not needed.endswith(OF_SERVER):
                self._scripts.setdefault(needed, []).append(address)
        title, main = TITLE.search(text), MAIN.search(text)
        assert title and main
        html = await self._without_server(main["main"])
        return ExportedPage(address, Markup(redact(title["title"])), Markup(html))  # noqa: S704 - escaped by templates

    async def _without_server(self, html: str) -> str:
        """Return *html* of a page of ours as it is in the file; note where it leads."""
        page = _Rewritten()
        page.feed(html)
        page.close()
        self._addresses |= dict.fromkeys(page.led_to)
        for position, address in page.parts.items():
            page.written[position] = await self._without_server(await self._get(address, part=True))
        return "".join(page.written)

    async def _get(self, address: str, *, part: bool = False) -> str:
        """Return what the viewer answers to a look at *address*; a *part* of a page is asked for by htmx."""
        place = urlsplit(address)
        scope: Scope = {
            "type": "http",
            "method": "GET",
            "path": unquote(place.path),
            "query_string": place.query.encode(),
            "headers": [(b"hx-request", b"true")] if part else [],
        }
        body: list[bytes] = []

        async def receive() -> Message:
            return await asyncio.Future()  # nobody hangs up

        async def send(message: Message) -> None:
            body.append(message.get("body", b""))

        await self._app(scope, receive, send)
        return b"".join(body).decode()


class _Rewritten(HTMLParser):
    """
    The HTML of a page that asks no server, in `written`.

    `parts` is position in it → address of what belongs there, `led_to` the addresses of the pages that links
    lead to. Forms that ask are hidden, as scripts look for their fields. What asks the server when it is
    pressed, and scripts that are no data, are left out.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.written: list[str] = []
        self.parts: dict[int, str] = {}
        self.led_to: list[str] = []
        self._depth = 0  # how many elements are open within what is left out, itself included
        self._after = ""  # what is written once that ends

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        pressed = tag in ("a", "button") and any(name.startswith("hx-") for name in attributes)
        if self._depth or pressed or (tag == "script" and attributes.get("type") != "application/json"):
            self._depth += tag not in VOID
            return
        self.written.append(self._start(tag, attributes))
        part = str(attributes.get("hx-get") or "").removeprefix(BASE)
        if PART.fullmatch(urlsplit(part).path) and str(attributes.get("hx-trigger")).startswith(LATER):
            self.parts[len(self.written)] = part
            self.written.append("")
            self._depth, self._after = 1, f"</{tag}>"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._depth:
            self.written.append(self._start(tag, dict(attrs)).removesuffix(">") + "/>")

    def handle_endtag(self, tag: str) -> None:
        if not self._depth:
            self.written.append(f"</{tag}>")
        elif tag not in VOID:
            self._depth -= 1
            if not self._depth:
                self.written.append(self._after)
                self._after = ""

    def handle_data(self, data: str) -> None:
        if not self._depth:
            self.written.append(redact(data))

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def _start(self, tag: str, attributes: Mapping[str, str | None]) -> str:
        """Return the start of an element that asks no server; note the page that it leads to."""
        attributes_left = {name: value for name, value in attributes.items() if not name.startswith("hx-")}
        if tag == "form" and "action" in attributes_left:
            attributes_left = {
                name: value for name, value in attributes_left.items() if name in ("class", "id")
            } | {"hidden": None}
        leads = str(attributes_left.get("href") or "")
        if leads.startswith(BASE):
            address = leads.removeprefix(BASE)
            if leads_to(address):
                self.led_to.append(address)
                attributes_left["href"] = f"#{address}"
            else:
                del attributes_left["href"]
        return (
            "<" + " ".join([tag, *(_attribute(name, value) for name, value in attributes_left.items())]) + ">"
        )


def _attribute(name: str, value: str | None) -> str:
    return name if value is None else f'{name}="{escape(redact(value))}"'


def _digest(text: str) -> str:
    """Return the source by which a content security policy lets inline *text* count."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
