"""The documents, and what stands in their blocks and tables."""

import re

from tests.live import ROOT


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def fenced(document: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)


def rows(document: str) -> list[list[str]]:
    """Return the cells of all table rows, without the code marks around them."""
    lines = re.findall(r"^\| (.*) \|$", document, re.MULTILINE)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
