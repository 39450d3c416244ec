"""Each event of the ledger has one row, from which what the index makes of it follows."""

import ast
from collections import Counter
from pathlib import Path

from mcp_server.adapters.index import events
from mcp_server.adapters.index.table import Ref
from mcp_server.adapters.ledger import AHEAD

PRODUCT = Path(__file__).parents[2] / "mcp_server"
WRITING = {
    "append": 0,
    "record": 0,
    "try_record": 0,
    "write_line": 1,
    "tell": 1,
    "tell_ledger": 1,
    "commit": 3,
}
WRITING |= {"move": 5}
"""What writes a line into the ledger: the place of the event's name among the arguments."""
UNNAMED = {("deeds", "ref")}
"""Columns that name memories and are renamed by `deeds.rename`, or not at all: a seed keeps its vault."""


def events_written(tree: ast.AST) -> set[str]:
    """Return the names of the events that a module writes, where they stand in it as texts."""
    constants = {
        target.id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    functions = [node.args for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    defaults = [
        pair
        for arguments in functions
        for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    names = {
        default.value
        for parameter, default in defaults
        if parameter.arg == "event" and isinstance(default, ast.Constant) and default.value
    }
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called == "append" and not ast.unparse(call.func).endswith("ledger.append"):
            continue
        at = WRITING.get(called, len(call.args))
        named = [
            *call.args[at : at + 1],
            *(keyword.value for keyword in call.keywords if keyword.arg == "event"),
        ]
        for node in named:
            event = node.value if isinstance(node, ast.Constant) else constants.get(getattr(node, "id", ""))
            names |= {event} if isinstance(event, str) and called in WRITING else set()
    return names


def test_each_event_that_is_written_has_one_row() -> None:
    rows = Counter(row.name for module in events.modules() for row in getattr(module, "EVENTS", ()))
    names = set().union(
        *(events_written(ast.parse(path.read_text("utf-8"))) for path in PRODUCT.rglob("*.py"))
    )

    assert {"remembered", "recalled", "tidied", "contradiction_resolved"} <= names
    assert names - rows.keys() == set()
    assert rows.keys() >= AHEAD
    assert [name for name, times in rows.items() if times > 1] == []


def test_what_a_module_says_of_events_is_understood() -> None:
    documented = {row.name for row in events.table().values()}
    for module in events.modules():
        named = {*getattr(module, "ALSO", ()), *getattr(module, "TAKEN_BACK", ())}
        assert named <= documented, module.__name__
        assert not named or hasattr(module, "add"), module.__name__


def test_where_a_memory_is_named_it_is_renamed_when_it_moves() -> None:
    tables = [table for module in events.modules() for table in getattr(module, "TABLES", ())]
    named = {(table.name, name) for table in tables for name, type in table.columns.items() if type is str}

    assert {pair for pair in named if pair[1] == "ref"} == UNNAMED
    assert any(type is Ref for table in tables for type in table.columns.values())
