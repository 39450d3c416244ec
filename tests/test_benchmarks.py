"""The retrieval benchmark on a tiny made-up set."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTES = {
    "a": "Stripe webhooks need the raw request body.",
    "b": "Postgres has window functions for the reports.",
    "c": "The cart lives on the server.",
}


def test_every_way_of_searching_is_measured(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    documents = [{"id": name, "title": "", "text": text, "group": "shop"} for name, text in NOTES.items()]
    said = {
        "id": "d",
        "title": "",
        "text": "I adopted a dog.",
        "group": "chat",
        "speaker": "Ada",
        "timestamp": "May",
    }
    questions = [
        {"id": "1", "text": "webhook body", "group": "shop"},
        {"id": "2", "text": "Ada's dog", "group": "chat"},
    ]
    write(folder / "corpus.jsonl", [*documents, said])
    write(folder / "queries.jsonl", questions)
    (folder / "qrels.tsv").write_text("1\ta\t1\n2\td\t1\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "retrieval.py"), str(tmp_path), "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["sets"]["tiny"]
    assert found.keys() == {"grep", "keyword", "semantic", "hybrid"}
    assert found["hybrid"]["ndcg@10"] == found["keyword"]["recall@1"] == 1.0
    assert {"recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10"} <= found["semantic"].keys()


def write(path: Path, lines: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
