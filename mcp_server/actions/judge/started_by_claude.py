"""started_by_claude: sessions that Claude starts by `claude -p` in its shell; no person speaks in them."""

from pathlib import Path

from mcp_server.store import Store

EVENT = "started_by_claude"  # the event: the prompts of that session are not the person's words


def note_by_claude(store: Store) -> None:
    """Note that Claude started or resumed this session; needs no index, and never raises."""
    if store.session:
        store.try_record(EVENT)


def asked_by_claude(store: Store, transcript: Path) -> bool:
    """
    Tell whether Claude wrote the prompts in *transcript*: that of an agent, or of a session that it started.

    The file's name is the session's id. Raises IndexUnavailable.
    """
    from mcp_server.actions.files.sync import catch_up_if_free  # slow to load, and hooks only note
    from mcp_server.adapters import transcript_file
    from mcp_server.adapters.index.events import deeds

    if transcript_file.is_subagent(transcript):
        return True
    catch_up_if_free(store)
    with store.database.read() as db:
        return bool(deeds.listed(db, session=transcript.stem, events=(EVENT,), limit=1))
