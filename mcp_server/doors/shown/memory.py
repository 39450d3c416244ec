"""What became of a memory that was remembered or forgotten, in the words of a person; a sentence a line."""

from mcp_server.actions.files.read import Found
from mcp_server.actions.judge.settled import Settled
from mcp_server.actions.memory.forget import Forgotten

STAYS = "{0} stays superseded; make it active again with: daybook restore {0}"


def remembered(done: Settled, found: Found, *, known: bool) -> list[str]:
    """Return where it is kept; *known*: it was there before."""
    if known:
        return [f"{done.id} says that already."]
    return [f"Remembered {done.id} ({found.vault.level.value} level)", str(found.path)]


def forgotten(gone: Forgotten) -> list[str]:
    """Return what became of a memory and of those whose place it had taken."""
    lines = [f"Deleted {gone.id} for good."] if gone.path is None else [f"Forgot {gone.id}", str(gone.path)]
    return [
        *lines,
        *(
            f"It had been merged into {heir}, which may say it still: daybook read {heir}"
            for heir in gone.heirs
        ),
        *map(STAYS.format, gone.superseded),
        *(f"{old} holds in this project again: {gone.id} had stood in for it." for old in gone.uncovered),
    ]
