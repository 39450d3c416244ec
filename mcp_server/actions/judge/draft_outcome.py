"""What became of a draft that was compared and stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mcp_server.actions.recall.nearby import Near


class Action(StrEnum):
    """What became of a draft."""

    ADD = "add"
    KNOWN = "known"
    REPLACE = "replace"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class DraftOutcome:
    """
    What was done with a draft: the action, and the id that holds it now.

    `superseded` gave way to it, `shadowed` does so in this project only, `later` will once it is accepted.
    `unmoved` was named but leads to no active memory, `several` are quotes with the ids of all that contain
    them, `elsewhere` belongs to other projects, and `kept` only the person may replace. `near` may be about
    the same thing, and `waiting` are link targets without a memory yet. `successor` had superseded the memory
    that says the same; `uncovered` holds here again, because what shadowed it gave way; `apart` were told
    apart from it. `unlike` is how a known memory differs from the draft in other things than words.
    `hides_teams`: an id of `unmoved` may be the team's, and recall leaves that out in this project.
    """

    action: Action
    id: str
    superseded: tuple[str, ...] = ()
    shadowed: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    unmoved: tuple[str, ...] = ()
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()
    waiting: tuple[str, ...] = ()
    successor: str = ""
    uncovered: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    hides_teams: bool = False

    @property
    def known(self) -> bool:
        """Whether nothing new was stored."""
        return self.action in (Action.KNOWN, Action.RESTORE)
