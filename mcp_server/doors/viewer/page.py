"""page: HTML from templates, safe markdown, and what every page needs to know of its request."""

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import nh3
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from mcp_server.actions.sessions import session_overview
from mcp_server.adapters import places
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import DaybookError, NotFound, Rejected
from mcp_server.core.links import WIKI, as_name
from mcp_server.core.memory import LISTS
from mcp_server.core.memory_parts import timestamp, type_or_kind
from mcp_server.core.render import bytes_of, counted, files_of_before, visible
from mcp_server.doors.shown import day, moment, needs
from mcp_server.doors.shown.figures import cost_of
from mcp_server.environment import person_home
from mcp_server.store import Store

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).with_name("static")
Fields = ImmutableMultiDict[str, str]
ALL = "all"  # as a project: every project; no project has this key, for a key ends in a digest
MOST_DIGITS = 9  # of a number in an address
MOST_FIELDS = 2000  # of one form: a list of a page with a tick and a few words for each row
TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "ul", "ol", "li", "pre", "code"),
    *("em", "strong", "s", "del", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
"""What a memory's text may become: nothing that is fetched, that runs or that has a style."""
LOWEST = 6  # of the headings of HTML
NESTED = 60  # quotes and lists in each other, above which a text is shown as it is written


@dataclass(frozen=True, slots=True)
class Viewer:
    """
    What all pages share: the store's parts, and the secret first part of each path.

    With `read_only` no page offers a change; the guard refuses them anyway. `looked` is called twice a second
    while a page is open.
    """

    opened: Opened
    base: str
    read_only: bool
    looked: Callable[[], None] = lambda: None


def viewer(request: Request) -> Viewer:
    """Return what all pages share."""
    shared: Viewer = request.app.state.viewer
    return shared


def store_of(request: Request) -> Store:
    """Return the store as seen from `folder_of` the request."""
    return viewer(request).opened.store(folder=folder_of(request))


def folder_of(request: Request) -> Path:
    """
    Return the folder of the project whose key is `project` in the address; the key `user` is no project's.

    Without it, the folder where the viewer was started. Raises NotFound for an unknown key.
    """
    opened = viewer(request).opened
    # Before anything is read, so that later changes show.
    request.state.mark = session_overview.mark(opened.store())
    key = request.query_params.get("project", "")
    if not key:
        return opened.folder
    if key == places.USER_KEY:
        return Path(person_home(opened.environment))
    return root_of(opened, key)


def root_of(opened: Opened, key: str) -> Path:
    """Return the folder of the project with that key; raises NotFound for an unknown one."""
    for project in places.known_projects(opened.home):
        if project.key == key:
            return project.root
    raise NotFound(key, sentence=f"No project has the key '{key[:80]}'.", hint="Choose one of the list.")


def number(request: Request, name: str) -> int:
    """Return the whole number that *name* has in the address, 0 without one; raises Rejected for another."""
    digits = request.query_params.get(name) or "0"
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS):
        raise Rejected(
            f"'{name}' is not a whole number: {digits[:40]}.", "Go back to the page and try again."
        )
    return int(digits)


def paged(at: Callable[[int], str], offset: int, size: int, *, more: bool) -> dict[str, Any]:
    """
    Return the addresses of the `earlier` and the `later` page of a list, '' for none.

    *at* is the number of a page's first row, from 0, → its address; the page at hand has *size* rows at most.
    """
    earlier = at(max(0, offset - size)) if offset else ""
    return {"earlier": earlier, "later": at(offset + size) if more else ""}


def form(handler: Callable[[Request, Fields], Response]) -> Callable[[Request], Awaitable[Response]]:
    """
    Return the endpoint of a form: it calls the plain function *handler* with the form's fields, in a thread.

    Line ends are `\\n`, whatever the browser sends. The guard bounds the length.
    Raises Rejected for more than MOST_FIELDS fields.
    """

    @functools.wraps(handler)
    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(handler, request, _fields(await request.body()))

    return endpoint


def _fields(body: bytes) -> Fields:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise Rejected(f"This form cannot be read: {error}.", "Go back to the page and try again.") from error
    return Fields([(name, value.replace("\r\n", "\n")) for name, value in pairs])


def page(request: Request, template: str, /, status: int = HTTPStatus.OK, **values: Any) -> Response:
    """Return the page, or the part of one, that *template* makes of *values*."""
    shared = viewer(request)
    common = {
        "base": shared.base,
        "read_only": shared.read_only,
        "started_in": shared.opened.store().project,
        "page_path": request.url.path,
        "project": request.query_params.get("project", ""),
        "mark": getattr(request.state, "mark", ""),
        "whole": "hx-request" not in request.headers,
    }
    return HTMLResponse(rendered(template, **common, **values), status)


def rendered(template: str, /, **values: Any) -> str:
    """Return what *template* makes of *values*."""
    return _templates().get_template(template).render(values)


def failed(request: Request, error: Exception) -> Response:
    """Return the page of an error that Daybook raised on purpose: one sentence, and what to do."""
    assert isinstance(error, DaybookError)
    status = {3: HTTPStatus.NOT_FOUND, 5: HTTPStatus.CONFLICT}.get(error.exit_code, HTTPStatus.BAD_REQUEST)
    return page(request, "error.html", status, sentence=str(error), hint=error.hint)


def markdown(text: str, named: Mapping[str, str] | None = None) -> Markup:
    """
    Return markdown as HTML in which nothing runs and nothing is fetched; links open beside the page.

    *named* is the name of a memory (`links.as_name`) → its address: `[[name]]` leads there.
    """
    env: dict[str, Any] = {"named": named or {}}
    tokens = _markdown().parse(visible(text), env)
    if any(token.level >= NESTED - 1 for token in tokens):  # it would leave out what stands deeper
        return Markup("<pre>{}</pre>").format(visible(text))
    html = _markdown().renderer.render(tokens, _markdown().options, env)
    return Markup(  # noqa: S704 - cleaned here, by a library that knows what browsers do
        nh3.clean(
            html,
            tags=TAGS,
            attributes={"a": {"href", "title", "target"}, "ol": {"start"}},
            set_tag_attribute_values={tag: {"tabindex": "0"} for tag in ("pre", "table")},  # they may scroll
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer",
        )
    )


def address(path: str, **query: object) -> str:
    """Return *path* with *query*, without its empty values; both are quoted."""
    words = urlencode({name: value for name, value in query.items() if value not in ("", None)}, doseq=True)
    return quote(path) + (f"?{words}" if words else "")


@functools.cache
def _markdown() -> MarkdownIt:
    # An image is shown by its words: fetching it would tell its server that the memory is read.
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTED}).enable(
        ["table", "strikethrough"]
    )
    parser.add_render_rule("image", lambda _self, tokens, number, *_: nh3.clean_text(tokens[number].content))
    parser.add_render_rule("link_open", _opened)
    parser.inline.ruler.before("link", "wiki", _wiki)
    parser.core.ruler.push("below the title", _lowered)
    return parser


def _wiki(state: StateInline, silent: bool) -> bool:
    """Make a link of `[[name]]` or `[[name|words]]`, where *named* of the environment has that name."""
    match = WIKI.match(state.src, state.pos)
    leads_to = state.env["named"].get(as_name(match["target"])) if match else None
    if not match or not leads_to:
        return False
    if not silent:
        token = state.push("link_open", "a", 1)
        token.attrs = {"href": leads_to}
        token.meta = {"ours": True}
        state.push("text", "", 0).content = match["words"] or match[0][2:-2]
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _lowered(state: StateCore) -> None:
    """Let the headings of a text stand below that of its page."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(LOWEST, int(token.tag[1:]) + 1)}"


def _opened(
    self: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: EnvType
) -> str:
    """Let a link that a memory's text names open beside the page; one to a memory takes its place."""
    if not tokens[number].meta.get("ours"):
        tokens[number].attrSet("target", "_blank")
    return self.renderToken(tokens, number, options, env)


def _shown(value: object) -> object:
    """
    Return what a template prints of *value*: text without characters that nobody sees.

    They could hide words, or turn their order round. What a field must send back unchanged is `| exact`.
    """
    return value if isinstance(value, Markup) else visible(str(value))


@functools.cache
def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals.update(
        address=address,
        every_project=ALL,
        lists=LISTS,
        own=places.USER_KEY,
        now=lambda: datetime.now(UTC),
        type_or_kind=type_or_kind,
    )
    templates.filters.update(
        bytes_of=bytes_of,
        markdown=markdown,
        day=day,
        moment=moment,
        timestamp=timestamp,
        counted=counted,
        cost_of=cost_of,
        size_warning=needs.size,
        files_of_before=files_of_before,
        visible=visible,
        exact=escape,
    )
    return templates
