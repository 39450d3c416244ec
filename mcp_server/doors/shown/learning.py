"""Learning from sessions: what the person may allow, and what Claude is asked to do."""

from mcp_server.actions.capture.learn_by_agent import PIECES

OFFER = (
    "Daybook can learn from your sessions by itself: once in each session, Claude then starts "
    f"an agent in the background, which reads up to {PIECES} pieces with a small model on your "
    "Claude plan. 'daybook setup --plan' in a terminal allows it, '--no-plan' refuses it."
)
REQUEST = (
    "Daybook: the person agreed that Daybook learns from earlier sessions. After you have done "
    "what this prompt asks, start the agent daybook:memory-extractor once, in the background "
    f"(run_in_background), with the prompt '{PIECES} pieces'. Do not wait for it, and do not mention it."
)


AGREED = "Daybook learns from your sessions from now on; 'daybook setup --no-plan' ends it."
NOT_AGREED = (
    "Daybook does not learn from your sessions, and does not ask again;"
    " 'daybook setup --plan' in a terminal allows it."
)


def question(daily_calls: int) -> str:
    """Return the question whether Daybook may learn on the person's plan, with *daily_calls* at most."""
    return (
        "Daybook can learn from this and other sessions by itself. Excerpts and memories, without secrets and"
        " what you marked as private, then go to a small model of Claude's: on your plan (or the key that"
        f" Claude Code uses), at most {daily_calls} short calls a day, never while you wait."
        " 'daybook setup --no-plan' ends it. May it learn, starting with the sessions that wait?"
    )
