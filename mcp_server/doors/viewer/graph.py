"""graph: all links as a picture and as a table, and the part of them that one chooses."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from http import HTTPStatus
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mcp_server.actions.graph.picture import draw, find_in, read_network
from mcp_server.core.digests import text_digest
from mcp_server.core.graph.network import (
    DEEPEST,
    MOST_DRAWN,
    Choice,
    Network,
    NetworkNode,
    chosen,
    degrees,
    largest,
    relations_of,
)
from mcp_server.core.graph.svg import MARKS, SORTS, STYLE, as_part, mark, types_in
from mcp_server.core.memory_parts import Level
from mcp_server.doors.viewer.page import ALL, address, number, page, paged, viewer
from mcp_server.doors.viewer.page_query import Where, check_one_of, projects, store_for
from mcp_server.store import Store

LISTED = 100  # links of one page of the table
OFFERED = 400  # memories that are offered as the one in the middle, those with the most links


@dataclass(frozen=True, slots=True)
class LinkSelection:
    """Which links the page's address asks for; '' where it does not say it."""

    project: str = ""
    relation: str = ""
    type: str = ""
    level: str = ""
    around: str = ""
    steps: str = ""

    def url(self, path: str = "/graph", **changed: object) -> str:
        """Return the address that asks for this, with what is *changed*, without the viewer's base."""
        return address(path, **{**asdict(self), **changed})

    @property
    def narrows(self) -> bool:
        """Tell whether anything but the project is asked for."""
        return any((self.relation, self.type, self.level, self.around))


def graph(request: Request) -> Response:
    """Return the page of the graph, or for a request of htmx only the picture with its table."""
    selection, store, network = _asked(request)
    part = _chosen(request, selection, store, network)
    digest = text_digest(repr(part), size=8)
    if request.query_params.get("known") == digest:
        return Response(status_code=HTTPStatus.NO_CONTENT)  # the page shows this already
    values = {**_picture(request, store, part), **_table(request, selection, store, part), "digest": digest}
    if "hx-request" in request.headers:
        answer = page(request, "graph_picture.html", network=network, **values)
        if "known" not in request.query_params:
            answer.headers["HX-Push-Url"] = viewer(request).base + selection.url()
        return answer
    count = degrees(network.links)
    choices: Mapping[str, Any] = {
        "projects": projects(request),
        "relations": relations_of(network),
        "types": [name for name in MARKS if any(node.type == name for node in network.nodes)],
        "levels": [level.value for level in Level],
        "deepest": DEEPEST,
        "offered": sorted((node for node in network.nodes if node.id), key=lambda node: -count[node.key])[
            :OFFERED
        ],
    }
    return page(request, "graph.html", network=network, **values, **choices)


def links(request: Request) -> Response:
    """Return a page of the table of links, for a request of htmx without what is around it."""
    selection, store, network = _asked(request)
    whole = "hx-request" not in request.headers
    values = _table(request, selection, store, _chosen(request, selection, store, network))
    return page(request, "graph_links.html" if whole else "graph_table.html", **values)


def style(_: Request) -> Response:
    """Return the style of the picture, which a file of it has inside."""
    return PlainTextResponse(STYLE, media_type="text/css")


def _asked(request: Request) -> tuple[LinkSelection, Store, Network]:
    names = [field.name for field in fields(LinkSelection)]
    selection = LinkSelection(**{name: request.query_params.get(name, "").strip() for name in names})
    store = store_for(request)
    return selection, store, read_network(store, all_projects=selection.project == ALL)


def _chosen(request: Request, selection: LinkSelection, store: Store, network: Network) -> Network:
    check_one_of(Level, selection.level, "a level")
    level = Level(selection.level) if selection.level else None
    around = find_in(network, store, selection.around) if selection.around else frozenset[str]()
    steps = number(request, "steps") or 1
    return chosen(network, Choice(selection.relation, selection.type, level, around, steps))


def _picture(request: Request, store: Store, part: Network) -> dict[str, Any]:
    where, base = Where(request, store), viewer(request).base

    def href(node: NetworkNode) -> str:
        if node.id:
            return base + where.to(node.vault, node.id)
        return base + address("/graph", project=request.query_params.get("project"), around=node.key)

    drawn = largest(part, MOST_DRAWN)
    picture = draw(drawn)
    sorts = {line.sort for line in picture.lines}
    return {
        "part": part,
        "drawn": drawn,
        # Markup: core/graph/svg escapes every word of a memory.
        "svg": Markup(as_part(picture, href)),  # noqa: S704
        "legend": [(name, Markup(mark(name))) for name in types_in(picture)],  # noqa: S704
        "put_away": any(not node.is_active for node in drawn.nodes),
        "sorts": [(sort.value, words) for sort, words in SORTS.items() if sort in sorts],
    }


def _table(request: Request, selection: LinkSelection, store: Store, part: Network) -> dict[str, Any]:
    where = Where(request, store)
    offset = number(request, "offset")
    nodes = {node.key: node for node in part.nodes}
    ids = [node.id for node in part.nodes]

    def end(key: str) -> dict[str, Any]:
        node = nodes[key]
        name = node.id if ids.count(node.id) == 1 else key
        return {
            "node": node,
            "to": where.to(node.vault, node.id) if node.id else "",
            "around": selection.url(around=name),
        }

    rows = [(end(link.start), link, end(link.end)) for link in part.links[offset : offset + LISTED]]
    return {
        "selection": selection,
        "rows": rows,
        "total": len(part.links),
        "first": offset + 1,
        "last": offset + len(rows),
        **paged(
            lambda first: selection.url("/graph/links", offset=first or ""),
            offset,
            LISTED,
            more=offset + LISTED < len(part.links),
        ),
    }


ROUTES = (Route("/graph", graph), Route("/graph/links", links), Route("/graph/style.css", style))
