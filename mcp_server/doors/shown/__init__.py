"""What an action returned, put into words once: the doors print it as a table, as lines or as JSON."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """
    A result as every door shows it.

    `head` is a sentence, `rows` stand under `headers`, `texts` are what memories say, one for each row or
    none at all, `notes` are sentences that come last; `json` is the same for programs. Doors make what is
    foreign harmless in their own way.
    """

    head: str
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    texts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    json: object = None
