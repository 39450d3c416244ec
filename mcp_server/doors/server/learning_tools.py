"""Tools for what is known and what was learned: ask, search_knowledge, candidates, mining, tidying."""

from dataclasses import replace
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_server.actions.capture import mine
from mcp_server.actions.judge import candidate, named_candidates
from mcp_server.actions.judge.named_candidates import Named
from mcp_server.actions.memory.repository import trust
from mcp_server.actions.model.embed import unseen
from mcp_server.actions.recall.ask import ask as ask_question
from mcp_server.actions.recall.recall import recall as search
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.memory_parts import Kind, given_ids, split_list
from mcp_server.core.memory_types import TYPES
from mcp_server.core.search.query import Filter, Query, check_question, parse_mode
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.dialog import Dialog, require_together
from mcp_server.doors.shown import Shown, candidates, mining, upkeep
from mcp_server.doors.shown.persons_acts import SETTLING_CANDIDATES
from mcp_server.doors.shown.recall import answered, cited
from mcp_server.store import Store

Ids = Annotated[list[str] | str, Field(description="ids of candidates; 'all' for all waiting ones")]


def register(application: Application) -> None:
    """Add the learning tools to *application*."""
    session = application.session
    tool = application.tool
    open_store = application.opened.store

    @tool()
    def ask(question: Annotated[str, Field(description="in the person's own words")]) -> Shown:
        """Answer a question from all memories, citing ids, or say that the answer is not known. May use the
        person's API budget if they allowed that; otherwise returns the best passages to answer from."""
        return cited(ask_question(open_store(), question, given_to=session.id), question)

    @tool(reads=True)
    def search_knowledge(query: str, category: str = "", limit: int = 10) -> Shown:
        """Search knowledge memories by meaning. category is a type (decision, gotcha, …) or one of the
        person's own categories."""
        is_type = category.strip().lower() in TYPES
        filter = Filter(
            kinds=(Kind.KNOWLEDGE,),
            types=(category.strip().lower(),) if is_type else (),
            category="" if is_type else category.strip(),
        )
        wanted = Query(text=check_question(query), mode=parse_mode("semantic"), limit=limit, filter=filter)
        store = open_store()
        answer = search(store, wanted, given_to=session.id or "mcp")
        return answered(answer, query, waiting=unseen(store, wanted, answer))

    @tool(reads=True)
    def review_candidates() -> Shown:
        """List the candidates: proposed memories that wait for the person, or to be seen more often."""
        return candidates.waiting(candidate.review_candidates(open_store()))

    @tool()
    def log_output(
        content: Annotated[str, Field(description="what a program printed, at most 64 KiB")],
    ) -> Shown:
        """Log output that may show how this project works (versions, commands, configuration). Secrets are
        masked, the log is kept for a week, and run_mining finds what recurs in it."""
        return mining.logged(mine.log_output(open_store(), content))

    @tool()
    def run_mining(
        hours: Annotated[float, Field(description="how far to look back, at most 168")] = 24,
    ) -> Shown:
        """Look for recurring facts, decisions, commands and versions in recent logs and conversations; they
        become candidates, or memories once they were seen often enough."""
        return mining.mined(mine.run_mining(open_store(), hours=hours))

    @tool(reads=True)
    def mining_status() -> Shown:
        """Show how large the output log is, how many candidates wait, and what the last runs found."""
        return mining.status(mine.mining_status(open_store()))

    @tool()
    def consolidate(
        apply: Annotated[bool, Field(description="true carries out the plan; false only shows it")] = False,
        with_model: Annotated[
            bool, Field(description="let the plan call the model too, which costs money")
        ] = False,
    ) -> Shown:
        """Show what tidying would do (join equal memories, list pairs that may contradict each other, archive
        memories without a sign of life), or with apply do it; the answer says how to reverse it. Apply only
        when the person asked for it."""
        return upkeep.tidied(tidy(open_store(), dry_run=not apply, with_model=apply or with_model))

    @tool()
    def approve_candidate(context: Context[Any, Any], ids: Ids) -> Shown:
        """Store candidates as memories. A dialog asks the person first."""
        store = open_store()
        chosen = _agreed(Dialog(context), _named(store, ids), "Store as a memory", "--approve")
        stored = named_candidates.approve_each(store, chosen)
        trust(store, tuple(outcome.id for outcome in stored))  # the person said so
        return candidates.proposals("Stored", stored, before=chosen.before, failed=chosen.failed)

    @tool(destroys=True)
    def reject_candidate(context: Context[Any, Any], ids: Ids) -> Shown:
        """Move candidates to the trash; they are not proposed again. A dialog asks the person first."""
        store = open_store()
        chosen = _agreed(Dialog(context), _named(store, ids), "Move to the trash", "--reject")
        rejected = named_candidates.reject_each(store, chosen)
        return candidates.rejected(rejected, before=chosen.before, failed=chosen.failed)


def _agreed(dialog: Dialog, chosen: Named, deed: str, option: str) -> Named:
    """
    Return *chosen* with those waiting of which the person was shown every word, and said yes.

    Raises PersonNeeded.
    """
    act = SETTLING_CANDIDATES
    typed = " ".join(["candidates", *(f"{option} {key}" for key in chosen.waiting)])
    memories = {key: waiting.memory for key, waiting in chosen.waiting.items()}
    questions = {
        key: f"{deed}? {memory.type} “{memory.title}”: {memory.text}" for key, memory in memories.items()
    }
    require_together(questions.values(), act=act, typed=typed)
    agreed = [key for key, question in questions.items() if dialog.says_yes(question, act=act, typed=typed)]
    return replace(chosen, waiting={key: chosen.waiting[key] for key in agreed})


def _named(store: Store, ids: list[str] | str) -> Named:
    wanted = given_ids(split_list(ids))
    everything = [proposal.memory.id for proposal in candidate.review_candidates(store)]
    return named_candidates.named(store, everything if wanted == ["all"] else wanted)
