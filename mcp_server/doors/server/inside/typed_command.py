"""One command as the person, or another source in the client, typed it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_server.core.authors import PERSON
from mcp_server.core.provenance.provenance import ASSISTANT, MANUAL
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.inside.ask_person import Inside
from mcp_server.doors.server.session import PERSONS
from mcp_server.store import Store

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Typed:
    """The words of a command, whether the person typed them, and the way to ask the person."""

    application: Application
    words: str
    by_person: bool
    dialog: Inside

    @property
    def session(self) -> str:
        return self.application.session.id

    @property
    def folder(self) -> Path:
        return self.application.opened.folder

    @property
    def source(self) -> str:
        return MANUAL if self.by_person else ASSISTANT

    @property
    def store(self) -> Store:
        """The store; the author of its changes is the person if they typed the command."""
        store = self.application.opened.store()
        return self.persons(store) if self.by_person else store

    def persons(self, store: Store) -> Store:
        """Return *store* for what the person says, here or in a dialog."""
        return store.acting_as(PERSON)


def typed(application: Application, payload: Mapping[str, Any]) -> Typed:
    """Return the command of `words`, typed by `origin`; `answers` and `state` come from earlier questions."""
    answers, state = (payload.get(name) for name in ("answers", "state"))
    dialog = Inside(
        answers if isinstance(answers, dict) else {}, dict(state) if isinstance(state, dict) else {}
    )
    by_person = payload.get("origin") in PERSONS and not application.session.by_claude
    return Typed(application, str(payload.get("words", "")).strip(), by_person, dialog)
