"""
learn by an agent: where Claude Code loads no module of ours, an agent of the session reads the next pieces.

The consent is the same as for `learn_on_plan`. Claude is then asked, once in a session, to start the agent
`memory-extractor` in the background. Runs in a hook, on the standard library alone, and reads the index.
"""

import contextlib
from collections import Counter

from mcp_server.actions.context.offers import Offer, may_be_made, note_made
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import spending, transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.core.errors import IndexUnavailable, Unreadable
from mcp_server.core.memory_parts import Kind, Level, slug
from mcp_server.store import Store

PIECES = 5  # that an agent reads in one session; each counts as one of the day's calls on the person's plan
COUNTED = "agent-asked-"  # a file in `work`, named with the day: one line, a session's id, per early prompt
ASKED_WITH = (
    2  # which prompt of a session: at the first, the server, whose tools the agent needs, may not be up
)
LONGEST = 64 * 1024  # bytes of that file


def offer_is_due(store: Store) -> bool:
    """
    Tell, once, whether the person is to hear that they may allow this; usually not.

    Only when a session waits to be learned from, and not when the person decided or was asked in a dialog.
    """
    settings = store.settings
    if settings.plan_calls is not None or settings.model_calls or not may_be_made(store, Offer.PLAN):
        return False
    return _waits(store) and note_made(store, Offer.PLAN)


def request_is_due(store: Store) -> bool:
    """
    Tell whether Claude is to be asked to start the agent, with this session's second prompt; usually not.

    Only after the person's yes, when a session waits, and as long as the day's calls on the plan last.
    """
    settings = store.settings
    if not settings.on_plan or not store.session or not _waits(store):
        return False
    folder = store.home / places.WORK
    today = folder / f"{COUNTED}{store.clock():%Y-%m-%d}"
    try:
        prompts = Counter(files.read(today, LONGEST).decode().split() if today.exists() else ())
        if prompts[store.session] >= ASKED_WITH:
            return False
        sessions = sum(number >= ASKED_WITH for number in prompts.values())
        with store.database.read() as db:
            calls = spending.today_on_plan(db, store.now()) + PIECES * sessions
        if calls + PIECES > settings.daily_plan_calls:
            return False
        for earlier in folder.glob(f"{COUNTED}*"):
            if earlier != today:
                files.delete(earlier)
        files.make_folder(folder)
        files.append_line(today, store.session.encode(), durable=False)
    except (OSError, ValueError, Unreadable, IndexUnavailable):
        return False
    return prompts[store.session] + 1 >= ASKED_WITH


def _waits(store: Store) -> bool:
    """Tell whether another session of this project holds turns that no model read."""
    if store.settings.capture == "manual":
        return False
    unlearned: list[Transcript] = []
    with contextlib.suppress(IndexUnavailable), store.database.read() as db:
        unlearned = transcripts.unlearned(db, paid=False)
    vault = store.vault_for(Kind.CONVERSATION, Level.PROJECT if store.project else Level.USER)
    others = [transcript for transcript in unlearned if transcript.session not in ("", store.session)]
    return any(vault.path_for(slug(transcript.session), Kind.CONVERSATION).exists() for transcript in others)
