"""What became of something new that met what was known."""

from collections.abc import Sequence

from mcp_server.actions.judge.settled import Action, Settled

BECAME = {
    Action.ADD: "added",
    Action.REPLACE: "replaced another",
    Action.KNOWN: "known already",
    Action.RESTORE: "active again",
}


def summary(done: Sequence[Settled]) -> str:
    """Return in one line how many drafts were stored, replaced another and so on."""
    counts = {action: sum(each.action is action for each in done) for action in BECAME}
    return ", ".join(f"{number} {BECAME[action]}" for action, number in counts.items() if number) or "nothing"
