"""Tools of the memory-extractor: it reads past sessions, piece by piece, and proposes memories."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from mcp_server.actions.capture import learn
from mcp_server.actions.capture.pieces import Piece
from mcp_server.adapters.prompts import prompt
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import LISTS
from mcp_server.doors.server.application import Application
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.candidates import proposals

KEYS = ("type", "title", "content", *(key.name for key in LISTS if key.proposed), "supersedes", "evidence")


def register(application: Application) -> None:
    """Add the tools for transcripts to *application*."""
    tool = application.tool
    open_store = application.opened.store
    shown: list[Piece] = []  # the one that next_transcript_chunk gave last

    @tool(reads=True)
    def next_transcript_chunk() -> str:
        """Return the next piece of this project's past sessions that has not been learned from, the memories
        near it, and what to propose. For the memory-extractor; answer with submit_candidates."""
        piece = learn.next_piece(open_store())
        if piece is None:
            return "Nothing is left to learn from."
        shown[:] = [piece]
        return f"chunk {piece.digest}\n\n{prompt('extract')}\n\n{learn.question(open_store(), piece)}"

    @tool()
    def submit_candidates(
        chunk: Annotated[str, Field(description="the id from next_transcript_chunk")],
        candidates: Annotated[
            list[dict[str, Any]],
            Field(description=f"{', '.join(KEYS)} of each; [] for none"),
        ],
    ) -> Shown:
        """Propose memories for the piece from next_transcript_chunk; each is checked against it, then stored,
        merged or refused. An empty list is the usual answer."""
        store = open_store()
        piece = learn.next_piece(store)
        if piece is None or piece.digest != chunk.strip():
            raise Rejected("That piece is no longer the next one.", "Call next_transcript_chunk again.")
        if shown and shown[0].digest == piece.digest:
            piece = replace(piece, neighbours=shown[0].neighbours)  # they were named by these numbers
        outcomes, refused = learn.take_proposals(store, piece, candidates)
        return proposals("Done", outcomes, refused=refused)
