"""A question about two memories in words: how they stand to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_server.core.links import CONTRADICTS, SUPERSEDES

if TYPE_CHECKING:
    from mcp_server.actions.context.open_questions import Question


def standing(question: Question) -> str:
    """Return how the two stand to each other, as the end of a sentence about both."""
    if question.rel == CONTRADICTS:
        return "are marked as contradicting each other"
    if question.rel == SUPERSEDES:
        return "both are active, although one replaced the other"
    if question.fuller:
        return f"are alike, and [{question.fuller.id}] says all of both"
    return f"may differ in {question.differs}" if question.differs else "are alike"


def proposal(question: Question) -> str:
    """Return the question as one sentence."""
    return f"[{question.newer.id}] and [{question.older.id}] {standing(question)}"
