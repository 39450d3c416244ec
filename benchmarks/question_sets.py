"""
Question sets: documents, questions, and which document answers which question.

A set is a folder of `corpus.jsonl` {id, title, text, group?, timestamp?, speaker?, parent?},
`queries.jsonl` {id, text, group?} and `qrels.tsv` (question, document, grade).
A question with a group is answered from the documents of that group alone.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

FILES = ("corpus.jsonl", "queries.jsonl", "qrels.tsv")


@dataclass(frozen=True, slots=True)
class Document:
    """One document, '' for what the set does not say; `parent` is one of another set that it is a part of."""

    id: str
    title: str
    text: str
    group: str = ""
    timestamp: str = ""
    speaker: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question; *relevant* gives the grade, above 0, of each document that answers it."""

    id: str
    text: str
    group: str
    relevant: dict[str, int]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    name: str
    documents: list[Document]
    questions: list[Question]
    digest: str
    """Of the corpus: equal for equal documents."""

    @property
    def groups(self) -> list[str]:
        """The groups of the documents, '' among them when some have none."""
        return sorted({document.group for document in self.documents})


def find_sets(folder: Path) -> list[Path]:
    """Return the folders of the sets in *folder*, or *folder* itself when it is one."""
    if _is_set(folder):
        return [folder]
    return sorted(place for place in folder.iterdir() if _is_set(place))


def read_set(folder: Path) -> QuestionSet:
    """Return the set in *folder*; raise ValueError or KeyError where its files are not of this format."""
    relevant = _read_grades(folder / "qrels.tsv")
    corpus = (folder / "corpus.jsonl").read_bytes()
    return QuestionSet(
        name=folder.resolve().name,
        documents=[
            Document(
                id=str(record["id"]),
                title=str(record.get("title") or ""),
                text=str(record["text"]),
                group=str(record.get("group") or ""),
                timestamp=str(record.get("timestamp") or ""),
                speaker=str(record.get("speaker") or ""),
                parent=str(record.get("parent") or ""),
            )
            for record in _read_lines(folder / "corpus.jsonl")
        ],
        questions=[
            Question(
                id=str(record["id"]),
                text=str(record["text"]),
                group=str(record.get("group") or ""),
                relevant=relevant[str(record["id"])],
            )
            for record in _read_lines(folder / "queries.jsonl")
        ],
        digest=hashlib.blake2b(corpus, digest_size=16).hexdigest(),
    )


def in_one_pool(questions: QuestionSet) -> QuestionSet:
    """Return *questions* without their groups: each is asked of the documents of all."""
    return QuestionSet(
        name=f"{questions.name}-pool",
        documents=[replace(document, group="") for document in questions.documents],
        questions=[replace(question, group="") for question in questions.questions],
        digest=questions.digest,
    )


def _is_set(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _read_grades(path: Path) -> defaultdict[str, dict[str, int]]:
    """Return question → document → grade; lines without a number for a grade are headings."""
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        question, _, rest = line.partition("\t")
        document, _, grade = rest.rpartition("\t")
        if grade.strip().isdecimal() and int(grade) > 0:
            grades[question][document] = int(grade)
    return grades
