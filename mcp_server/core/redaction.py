"""PLACEHOLDER until the real one is written: overwrite this file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Secret:
    start: int
    end: int
    kind: str


def find_secrets(text: str) -> list[Secret]:
    return []


def redact(text: str) -> str:
    return text
