"""The prompts for a model, as the markdown files of `prompts/`."""

import functools
from pathlib import Path

from mcp_server.core.memory_types import listed_for_prompt

FOLDER = Path(__file__).resolve().parents[1] / "prompts"


@functools.cache
def prompt(name: str) -> str:
    """Return the text of `prompts/<name>.md`, with the types of a memory in place of `{types}`."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip().replace("{types}", listed_for_prompt())
