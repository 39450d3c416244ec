"""save_conversation and load_conversation: keep a conversation word for word."""

from collections.abc import Mapping, Sequence

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.memory.list import read_kind
from mcp_server.actions.memory.remember import Remembered, remember
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.secrets.redaction import redact, without_secrets
from mcp_server.core.sessions.conversation import Turn, parse_turns, render_turns, turns_of
from mcp_server.core.sessions.snapshot import noted
from mcp_server.core.text.titles import title_of
from mcp_server.store import Store


def save_conversation(
    store: Store,
    title: str,
    messages: Sequence[object],
    *,
    metadata: Mapping[str, object] | None = None,
    tags: tuple[str, ...] = (),
    source: str = MANUAL,
) -> Remembered:
    """
    Store *messages* as a conversation; secrets are masked, and a tag with one is left out.

    *source* is who saved it.

    Raises Rejected for a message without text, OSError when the disk refuses.
    """
    turns = turns_of(messages)
    masked = [Turn(redact(turn.speaker), redact(turn.words), redact(turn.time)) for turn in turns]
    draft = Draft(
        title=redact(title) or title_of("\n".join(turn.words for turn in masked)),
        text=render_turns(masked),
        kind=Kind.CONVERSATION,
        source=source,
        tags=without_secrets(tags),
        session=store.session,
        notes=tuple(map(redact, noted(metadata or {}))),
    )
    return remember(store, draft, keep_secrets=True)


def load_conversation(store: Store, memory_id: str) -> tuple[MemoryFile, list[Turn]]:
    """Return a conversation and its turns; raise NotFound, Rejected when the memory is of another kind."""
    file = read_kind(store, Kind.CONVERSATION, memory_id)
    return file, parse_turns(file.memory.text)
