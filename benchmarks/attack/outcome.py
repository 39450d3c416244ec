"""What a part of the attack is given, and what it gives back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_SHOWN = 20  # failures of a row that are told one by one


@dataclass(frozen=True, slots=True)
class Round:
    """
    What one run of a part is given.

    *folder* is empty and the part's own, *count* says how often to try, the same *seed* tries the same
    again. *progress* takes a line for the person who waits. With *planted* the part does what a broken
    Daybook would do, and must notice it.
    """

    folder: Path
    count: int
    seed: int
    progress: Callable[[str], None]
    planted: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """
    One line of the table: what was tried how often, a sentence for each failure, figures worth knowing.

    So many failures as `allowed` are within the goal.
    """

    what: str
    tried: int
    failures: Sequence[str] = ()
    figures: str = ""
    allowed: int = 0

    @property
    def failed(self) -> int:
        return len(self.failures)

    @property
    def is_bad(self) -> bool:
        return self.failed > self.allowed


@dataclass(frozen=True, slots=True)
class Part:
    """
    A part: its name, what it tries, how often in a whole run and in a quick one, and the seconds it may take.

    `in_memory` tells that its files may lie in memory, where a kill does not ask how fast the disk is.
    """

    name: str
    tries: str
    count: int
    quick: int
    run: Callable[[Round], list[Row]]
    longest: float = 1200.0
    in_memory: bool = True
