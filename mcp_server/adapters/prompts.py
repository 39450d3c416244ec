"""What a model is asked, as the markdown files of `prompts/`."""

import functools
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "prompts"


@functools.cache
def prompt(name: str) -> str:
    """Return the text of `prompts/<name>.md`."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
