"""Actions return values, and `doors/shown/` makes sentences of them."""

import ast
import re
from collections.abc import Iterator

from mcp_server.core import errors
from tests.live import ROOT

ACTIONS = ROOT / "mcp_server" / "actions"
FEWEST = 3  # words of a sentence
RAISED = {name for name, thing in vars(errors).items() if isinstance(thing, type)}
UNREAD = {"compile", "execute", "debug", "info", "warning", "error", "exception"}  # patterns, SQL and the log

OF_AN_ERROR = """
    changes.undo:ANYWAY changes.undo:_undo changes.undo:last_change exchange.connect:_BY_HAND
    exchange.seed:READING_OUTSIDE exchange.seed:outside_project files.read:BACK memory.list:read_kind
    memory.promote:_active memory.promote:require_place model.model_call:_MEND remote.exchange:slower
    team.give:HOW_TO_JOIN team.give:NO_TEAM team.memories:CHANGING_TEAMS team.memories:NOT_FOREVER
    team.memories:ONLY_REVISED
"""
"""An error has its sentence from the start, and these are parts of one."""

WHY_LEFT_ALONE = """
    changes.preview:_of_change changes.put_back:CHANGED_SINCE changes.put_back:GONE
    changes.put_back:looked_at exchange.auto_memory:import_auto_memory exchange.imports.batch:write_pending
    exchange.imports.from_text:reworded exchange.imports.plan:AS_GIVEN exchange.imports.plan:build
    exchange.imports.again:FORGOTTEN exchange.imports.take:CHANGED_HERE exchange.imports.take:GONE
    exchange.imports.take:STAYS
    exchange.seed:_reading exchange.seed:bootstrap_project files.conflict_copies:_WHAT
    files.conflict_copies:ledger_copies files.conflict_copies:why_not_taken_in files.runs:ChangeOutcome
    files.sync:_misnamed files.take_in:STAYS files.take_in:_put files.take_in:_read
    judge.candidate:unreadable_candidates
    remote.store_tree:_read_file remote.store_tree:_read_vault remote.store_tree:read_memories
    remote.store_tree:read_own_ledger team.side_by_side:NOT_SENT team.side_by_side:_Asking
    team.store_in_team:_without_missing upkeep.tidy:_ask_all
"""
"""A report has them beside the sentences of errors that were met with other files and records."""

SHOWN_WITHIN_A_BUDGET = """
    context.brief:AT_HAND context.brief:IN_TEAM context.brief:_notices context.brief:_of_use
    context.brief:_sections context.brief:prepared context.compaction:KEEP
    context.compaction:after_compaction context.from_other_machines:NEW
"""
"""The text that Claude is shown unasked is chosen by its length, so it is made where it is chosen."""

KEPT = """
    capture.learn:_store capture.session_summary:_answered capture.session_summary:_asked
    exchange.connect:launcher judge.candidate:SEEN_SELDOM judge.origins:_FORMER_NO_TRANSCRIPT
    remote.commits:cut_history remote.exchange:_merge
    remote.exchange:_disk_commit status.doctor:PROBE
"""
"""A file, the ledger or a repository keeps them, for people who read there."""

NAMES = """
    capture.learn_on_plan:YES judge.origins:_BROUGHT
    judge.remember_marker:UNSEEN review.review:_aged_again status.doctor:BY_WORDS
"""
"""Names of things, some words long: an answer to choose, formats, folders, titles, a question to search."""

MAY = {
    name
    for group in (OF_AN_ERROR, WHY_LEFT_ALONE, SHOWN_WITHIN_A_BUDGET, KEPT, NAMES)
    for name in group.split()
}


def sentences(tree: ast.Module) -> Iterator[str]:
    """Yield for each sentence in a module the function, class or constant at the top that has it."""
    for top in tree.body:
        match top:
            case ast.FunctionDef() | ast.ClassDef():
                name = top.name
            case (
                ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name), *_])])
                | ast.Assign(targets=[ast.Name(id=name)])
            ):
                pass
            case ast.AnnAssign(target=ast.Name(id=name)):
                pass
            case _:
                continue
        if any(map(is_sentence, read_by_people(top))):
            yield name


def read_by_people(node: ast.AST) -> Iterator[str]:
    """Yield the texts below *node* that are neither documentation, nor of an error, a pattern or the log."""
    match node:
        case ast.Raise() | ast.Assert() | ast.Expr(value=ast.Constant()) | ast.arguments():
            return
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in RAISED | UNREAD:
            return
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    yield from read_by_people(part.value)
        case ast.Constant(value=str(text)):
            yield text
        case _:
            for child in ast.iter_child_nodes(node):
                if child is not getattr(node, "returns", None) and child is not getattr(
                    node, "annotation", None
                ):
                    yield from read_by_people(child)


def is_sentence(text: str) -> bool:
    return len(re.findall(r"[A-Za-z']{2,}", text)) >= FEWEST and re.search(r"[a-z] [a-z]", text) is not None


def test_an_action_has_no_sentence_but_for_one_of_five_reasons() -> None:
    having = {
        f"{'.'.join(path.relative_to(ACTIONS).with_suffix('').parts)}:{name}"
        for path in ACTIONS.rglob("*.py")
        for name in sentences(ast.parse(path.read_text(encoding="utf-8")))
    }

    assert having - MAY == set(), "return a value, and make its sentence in doors/shown/"
    assert MAY - having == set(), "these have none any more: take them out of the list"
