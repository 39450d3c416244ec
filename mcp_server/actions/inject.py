"""inject: the memories that a prompt calls for, shown unasked; nothing is the normal answer."""

from mcp_server.actions.brief import told_by_auto_memory
from mcp_server.actions.recall import recall
from mcp_server.actions.sync import catch_up
from mcp_server.adapters.index import usage
from mcp_server.core.brief import PROMPT_BUDGET, PROMPT_FRAME, Entry, entry_line
from mcp_server.core.memory import Kind
from mcp_server.core.query import Filter, Hit, Query, Sort, Verdict
from mcp_server.core.render import within
from mcp_server.store import Store

SHORTEST_PROMPT = 8  # characters; below, a prompt like "go on" calls for nothing
MOST = 5
LINE = 480  # characters of one memory

_NOT_ASKED = ("/", "<task-notification", "<local-command", "<command-", "<bash-")


def inject(store: Store, prompt: str, *, session: str) -> str:
    """
    Return what *prompt* should be accompanied by, at most 2,500 characters; '' for nothing.

    Only memories that pass the gate, that may be pushed, and that this session was not given yet as they
    are now, neither by us nor by Claude Code's own memory.
    """
    said = prompt.strip()
    if len(said) < SHORTEST_PROMPT or said.startswith(_NOT_ASKED):
        return ""
    query = Query(text=said, sort=Sort.COMPOSITE, limit=2 * MOST, filter=Filter(kinds=(Kind.KNOWLEDGE,)))
    answer = recall(store, query)
    if answer.verdict is Verdict.NONE:
        return ""
    catch_up(store)  # the brief at the start of the session told some already
    with store.database.read() as db:
        given = usage.injected(db, session) | set(told_by_auto_memory(store).items())
    fitting = [hit for hit in answer.hits if _fits(hit, given)][:MOST]
    if not fitting:
        return ""
    lines, _ = within([_line(hit) for hit in fitting], PROMPT_BUDGET - len(PROMPT_FRAME) - 1)
    shown = fitting[: len(lines)]
    refs, digests = [hit.ref for hit in shown], [hit.digest for hit in shown]
    store.ledger.note("injected", store.clock(), refs=refs, digests=digests, session=session)
    catch_up(store)
    return "\n".join([PROMPT_FRAME, *lines])


def _fits(hit: Hit, given: set[tuple[str, str]]) -> bool:
    return hit.pushable and hit.confidence is not Verdict.NONE and (hit.ref, hit.digest) not in given


def _line(hit: Hit) -> str:
    dated = hit.updated.strftime("%Y-%m-%d")
    return entry_line(Entry(hit.id, hit.ref, hit.digest, hit.type, hit.title, hit.text, dated), LINE)
