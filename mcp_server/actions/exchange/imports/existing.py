"""The memories that the store has when an import begins, and what that import gives to new ones."""

from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.adapters.index.events.imports import Holder


@dataclass(slots=True)
class ExistingMemories:
    """
    The memories of the store, by id, and by vault and words; `given_ids` and `given_paths` are those that
    this import gave out.

    `repositories`: the vaults that the person made in repositories, each with its project's private one.
    """

    by_id: dict[str, list[Holder]] = field(default_factory=dict)
    by_words: dict[tuple[str, str], Holder] = field(default_factory=dict)
    given_ids: set[str] = field(default_factory=set)
    given_paths: set[Path] = field(default_factory=set)
    repositories: dict[str, str] = field(default_factory=dict)

    def add(self, holder: Holder) -> None:
        self.by_id.setdefault(holder.id, []).append(holder)
        if holder.active_knowledge:
            self.by_words.setdefault((holder.vault, holder.fingerprint), holder)
