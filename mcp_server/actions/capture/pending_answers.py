"""Keep a model's answer about a piece on the disk until it is stored, so that no paid call is lost."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import transcripts
from mcp_server.adapters.index.events.transcripts import Transcript
from mcp_server.core.capture.extraction import Proposal
from mcp_server.store import Store


@dataclass(frozen=True, slots=True)
class Learned:
    """One proposal, with the id of the memory that it supersedes, '' for none."""

    proposal: Proposal
    supersedes: str = ""


@dataclass(frozen=True, slots=True)
class LearnedPiece:
    """What was learned from a piece, as kept on the disk: the piece's byte range, turns and proposals."""

    start: int
    end: int
    keys: tuple[str, ...]
    found: tuple[Learned, ...]


def spool(store: Store, transcript: Transcript, answer: LearnedPiece) -> None:
    """Write *answer* about a piece of *transcript* to the disk; raises OSError when that fails."""
    files.write_new(_path(store, transcript), json.dumps(asdict(answer)).encode("ascii"))


def spooled(store: Store, transcript: Transcript) -> LearnedPiece | None:
    """Return the answer about *transcript* that a killed process left behind, None when there is none."""
    path = _path(store, transcript)
    try:
        answer = json.loads(files.read(path))
        lessons = [
            Learned(
                Proposal(**entry["proposal"] | _texts_of(entry["proposal"])),
                entry["supersedes"],
            )
            for entry in answer["found"]
        ]
        return LearnedPiece(int(answer["start"]), int(answer["end"]), tuple(answer["keys"]), tuple(lessons))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        files.delete(path)
        return None


def _texts_of(proposal: dict[str, Any]) -> dict[str, Any]:
    """Return the lists of a *proposal* that was read from JSON as the tuples that they were."""
    return {name: tuple(value) for name, value in proposal.items() if isinstance(value, list)}


def forget_spooled(store: Store, transcript: Transcript) -> None:
    """Delete the answer about *transcript*, which is stored now."""
    files.delete(_path(store, transcript))


def sweep_answers(store: Store) -> None:
    """Delete the answers whose pieces are learned: a process was killed before it could delete them."""
    with store.database.read() as db:
        pending_paths = {_path(store, transcript) for transcript in transcripts.unlearned(db, paid=False)}
    for path in (store.home / places.WORK).glob("learn-*.json"):
        if path not in pending_paths:
            files.delete(path)


def _path(store: Store, transcript: Transcript) -> Path:
    """Return the path of the file that keeps the answer about a piece of *transcript*."""
    name = files.digest(transcript.path.encode("utf-8", "surrogatepass"))
    return store.home / places.WORK / f"learn-{name}.json"
