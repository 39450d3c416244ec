"""
Question sets from text that is at hand: `python benchmarks/aside.py FOLDER TO --of notes|sections|functions`.

Each folder in FOLDER is a project, and a group of the set that is written to TO. What its author wrote
over a text is the question, and the text without it is the document that answers:
the title of a note, the heading of a section, the first sentence of a function's docstring.
Such a set is for checking what was chosen on others, so nothing may be chosen by it.
"""

import ast
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click

FEWEST_WORDS = 3  # of a title or a heading; "Usage" asks for nothing
FEWEST_CHARACTERS = 120  # of a text
MOST_CHARACTERS = 8_000
_UNDERLINE = re.compile(r"^([=\-~^\"'#*+`.:])\1{2,}\s*$")
_HASHES = re.compile(r"^#{1,6}\s+(.*?)[\s#]*$")
_HTML = re.compile(r"<[^>]+>|\{#[^}]*\}|\[(?=[^]]*\]\()|\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Text:
    """One document; `question` is '' where nothing asks for it."""

    id: str
    group: str
    question: str
    text: str


def notes(project: Path) -> Iterator[Text]:
    """Yield each Markdown file of *project*; its first heading asks for it."""
    for path in sorted(project.rglob("*.md")):
        headings, texts = _sections(path.read_text(encoding="utf-8", errors="replace"))
        if len(headings) > 1:
            rest = "\n".join(part for pair in zip(headings[2:], texts[2:], strict=True) for part in pair)
            yield Text(str(path), project.name, headings[1], f"{texts[1]}\n{rest}".strip())


def sections(project: Path) -> Iterator[Text]:
    """Yield each section of the Markdown and reStructuredText files of *project*; its heading asks for it."""
    for path in sorted([*project.rglob("*.md"), *project.rglob("*.rst")]):
        headings, texts = _sections(path.read_text(encoding="utf-8", errors="replace"))
        for number, (heading, text) in enumerate(zip(headings, texts, strict=True)):
            yield Text(f"{path}#{number}", project.name, heading, text.strip())


def functions(project: Path) -> Iterator[Text]:
    """Yield each Python function of *project* that has a docstring, whose first sentence asks for it."""
    for path in sorted(project.rglob("*.py")):
        try:
            source = path.read_text(encoding="utf-8")
            tree = ast.parse(source)
        except (UnicodeDecodeError, SyntaxError):
            continue
        lines = source.splitlines()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
                first, *others = node.body
                sentence = (ast.get_docstring(node) or "").split("\n\n")[0].split(". ")[0]
                if others:
                    code = (
                        lines[node.lineno - 1 : first.lineno - 1] + lines[first.end_lineno : node.end_lineno]
                    )
                    yield Text(
                        f"{path}#{node.lineno}", project.name, " ".join(sentence.split()), "\n".join(code)
                    )


KINDS: dict[str, Callable[[Path], Iterator[Text]]] = {
    "notes": notes,
    "sections": sections,
    "functions": functions,
}


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("to", type=click.Path(file_okay=False, path_type=Path))
@click.option("--of", "kind", type=click.Choice([*KINDS]), required=True, help="What the texts are.")
@click.option("--most", default=400, show_default=True, help="Questions at most.")
@click.option("--documents", default=2000, show_default=True, help="Documents at most.")
def main(folder: Path, to: Path, kind: str, most: int, documents: int) -> None:
    """Write a question set made of the projects in FOLDER to the folder TO."""
    projects = sorted(place for place in folder.iterdir() if place.is_dir())
    chance = random.Random(0)
    texts = [
        text
        for project in projects
        for text in KINDS[kind](project)
        if FEWEST_CHARACTERS <= len(text.text) <= MOST_CHARACTERS
    ]
    chance.shuffle(texts)
    once: dict[tuple[str, str], Text] = {}
    for text in texts:
        if len(text.question.split()) >= FEWEST_WORDS:
            once.setdefault((text.group, text.question.casefold()), text)
    # Real questions first: most headings of documentation are none.
    questions = sorted(once.values(), key=lambda text: not text.question.endswith("?"))[:most]
    question_ids = {text.id for text in questions}
    texts_kept = [*questions, *(text for text in texts if text.id not in question_ids)][:documents]
    to.mkdir(parents=True, exist_ok=True)
    corpus = [
        {"id": _id(folder, text), "title": "", "text": text.text, "group": text.group} for text in texts_kept
    ]
    _write(to / "corpus.jsonl", corpus)
    asking = [{"id": _id(folder, text), "text": text.question, "group": text.group} for text in questions]
    _write(to / "queries.jsonl", asking)
    grades = (f"{_id(folder, text)}\t{_id(folder, text)}\t1\n" for text in questions)
    (to / "qrels.tsv").write_text("".join(grades), encoding="utf-8")
    click.echo(f"{to}: {len(texts_kept)} documents, {len(questions)} questions.")


def _sections(text: str) -> tuple[list[str], list[str]]:
    """Return the headings of *text*, '' before the first, and what stands below each."""
    headings, texts = [""], [""]
    fenced = False
    lines = text.splitlines()
    for number, line in enumerate(lines):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        below = lines[number + 1] if number + 1 < len(lines) else ""
        hashes = None if fenced else _HASHES.match(line)
        underlined = not fenced and line.strip() and not line.startswith(" ") and _UNDERLINE.match(below)
        if hashes or (underlined and not _UNDERLINE.match(line) and len(below.strip()) >= len(line.strip())):
            headings.append(_HTML.sub("", hashes[1] if hashes else line).replace("`", "").strip())
            texts.append("")
        elif not (_UNDERLINE.match(line) and not texts[-1].strip()):
            texts[-1] += line + "\n"
    return headings, texts


def _id(folder: Path, text: Text) -> str:
    return Path(text.id).relative_to(folder).as_posix()


def _write(path: Path, lines: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
