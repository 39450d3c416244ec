"""The knowledge graph on the command line: as text, as Mermaid, as a picture, as JSON."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mcp_server.actions.graph.graph import read_graph
from mcp_server.actions.graph.picture import draw, read_network
from mcp_server.core.graph.graph import Graph
from mcp_server.core.graph.mermaid import as_mermaid
from mcp_server.core.graph.network import MOST_DRAWN, Choice, chosen, largest
from mcp_server.core.graph.svg import as_file
from mcp_server.core.graph.text import level_limits, rendered
from mcp_server.core.memory_parts import Level
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import LEVELS, as_json
from mcp_server.doors.cli.typed_parameters import heed_only
from mcp_server.store import Store


@click.command("graph")
@click.option("--level", type=LEVELS)
@click.option(
    "--mermaid", is_flag=False, flag_value="-", metavar="[FILE]", help="Print it as Mermaid, or into a file."
)
@click.option(
    "--svg",
    is_flag=False,
    flag_value="-",
    metavar="[FILE]",
    help="Print it as an SVG picture, or into a file.",
)
@as_json
def graph_command(level: Level | None, mermaid: str | None, svg: str | None) -> None:
    """Show the knowledge graph: memories, links, and what graph tools added.

    Example: daybook graph --mermaid graph.mmd
    """
    if form := "--svg" if svg else "--mermaid" if mermaid else "":
        heed_only("--level", form, where=f"with {form}")
    store = output.synced()
    if svg:
        _draw(store, level, svg)
        return
    graphs = read_graph(store, level=level)
    if output.wants_json():
        output.print_json([_graph_json(graph) for graph in graphs])
        return
    if mermaid == "-":
        click.echo(as_mermaid(graphs), nl=False)
        return
    if mermaid:
        output.write_for_person(Path(mermaid), as_mermaid(graphs))
        output.say(f"Drawn into {mermaid}")
        return
    if not any(graph.nodes or graph.edges for graph in graphs):
        click.echo("The graph is empty: 'daybook link FROM TO' or [[a title]] in a text links memories.")
        return
    texts: list[str] = []
    for graph in graphs:
        texts.append(rendered(graph, level_limits(store.settings.kg_max_tokens, texts)))
        click.echo(texts[-1])


def _draw(store: Store, level: Level | None, target: str) -> None:
    """Draw what the viewer's page of the graph draws."""
    picture = draw(largest(chosen(read_network(store), Choice(level=level)), MOST_DRAWN))
    if target == "-":
        click.echo(as_file(picture), nl=False)
    else:
        output.write_for_person(Path(target), as_file(picture))
        output.say(f"Drawn into {target}")


def _graph_json(graph: Graph) -> dict[str, Any]:
    nodes = [{key: value for key, value in asdict(node).items() if key != "ref"} for node in graph.nodes]
    return {"level": graph.level.value, "nodes": nodes, "edges": [asdict(edge) for edge in graph.edges]}


COMMANDS = {"Memories": (graph_command,)}
