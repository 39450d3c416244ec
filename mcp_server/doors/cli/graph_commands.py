"""The knowledge graph on the command line: as text, as Mermaid, as JSON."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mcp_server.actions.graph.graph import read_graph
from mcp_server.core.graph.graph import Graph
from mcp_server.core.graph.mermaid import as_mermaid
from mcp_server.core.graph.text import level_limits, rendered
from mcp_server.core.memory_parts import Level
from mcp_server.doors.cli import output
from mcp_server.doors.cli.output import LEVELS, as_json
from mcp_server.doors.cli.typed_parameters import heed_only


@click.command("graph")
@click.option("--level", type=LEVELS)
@click.option(
    "--mermaid", is_flag=False, flag_value="-", metavar="[FILE]", help="Print it as Mermaid, or into a file."
)
@as_json
def graph_command(level: Level | None, mermaid: str | None) -> None:
    """Show the knowledge graph: memories, links, and what graph tools added.

    Example: daybook graph --mermaid graph.mmd
    """
    if mermaid:
        heed_only("--level", "--mermaid", where="with --mermaid")
    store = output.synced()
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


def _graph_json(graph: Graph) -> dict[str, Any]:
    nodes = [{key: value for key, value in asdict(node).items() if key != "ref"} for node in graph.nodes]
    return {"level": graph.level.value, "nodes": nodes, "edges": [asdict(edge) for edge in graph.edges]}


COMMANDS = {"Memories": (graph_command,)}
