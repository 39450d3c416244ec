"""
Words that must stand nowhere afterwards, looked for in every byte of the store; and the modes of its files.

What is forgotten for good, and what a transcript has that is never kept: private passages, skipped turns,
what tools returned, thoughts, secrets.
"""

import json
import os
import random
import stat
from collections.abc import Iterable
from pathlib import Path

from benchmarks.attack import commands
from benchmarks.attack.outcome import Part, Round, Row
from tests.recorded import Recorded

SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def run(round_: Round) -> list[Row]:
    """Forget `count` memories for good; keep a quarter as many transcripts; look at the modes once."""
    commands.warm_up()
    rng = random.Random(round_.seed)
    return [_forever(round_, rng), _transcripts(round_, rng), _modes(round_)]


def canary(rng: random.Random) -> str:
    """Return a word that stands nowhere else."""
    return "".join(rng.choices(SYLLABLES, k=8))


def holders(folder: Path, word: str) -> list[str]:
    """Return the files below *folder* that hold *word* in any byte, or in their name."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if word in path.name or (path.is_file() and word.encode() in path.read_bytes())
    ]


def _place(round_: Round, name: str) -> tuple[Path, Path, dict[str, str]]:
    project = round_.folder / name / "shop"
    project.mkdir(parents=True)
    memory = round_.folder / name / "memory"
    claude = str(round_.folder / name / "claude")
    return memory, project, {**os.environ, "MEMORY_DIR": str(memory), "CLAUDE_CONFIG_DIR": claude}


def _forever(round_: Round, rng: random.Random) -> Row:
    memory, project, environment = _place(round_, "forever")
    wrong: list[str] = []
    hits = 0

    def run(*words: str) -> commands.Ended:
        ended = commands.run(words, folder=project, environment=environment)
        if ended.code != 0:
            wrong.append(f"{' '.join(words)[:80]} ended with {ended.code}: {ended.error[-200:]}")
        return ended

    run("init", "--file", "CLAUDE.md")
    for number in range(round_.count):
        in_text, in_tag = canary(rng), canary(rng)
        ended = run(
            "remember",
            f"Note {number} | The word of it is {in_text}.",
            "--tags",
            in_tag,
            "--type",
            "decision",
            "--json",
        )
        if ended.code != 0:
            continue
        memory_id = json.loads(ended.out)["id"]
        if rng.random() < 0.5:
            run("revise", memory_id, "--text", f"The word was {in_text}, and is so still, as {in_tag} says.")
        if rng.random() < 0.5:
            run("recall", f"word of it {in_text}", "--mode", "keyword")
        if rng.random() < 0.3:
            run("forget", memory_id)
            run("restore", memory_id)
        run("init", "--file", "CLAUDE.md")
        hits += sum(len(holders(place, in_text)) for place in (memory, project))
        if rng.random() < 0.3:
            run("forget", memory_id)
        if not round_.planted:
            run("forget", memory_id, "--forever")
        for word in (in_text, in_tag):
            wrong += [
                f"{word} of {memory_id} in {path}"
                for place in (memory, project)
                for path in holders(place, word)
            ]
    round_.progress(f"{round_.count} forgotten for good, {len(wrong)} wrong")
    return Row(
        "forget --forever: bytes of the text or the tags left",
        round_.count,
        wrong,
        f"{hits} files held them before",
    )


def _transcripts(round_: Round, rng: random.Random) -> Row:
    memory, project, environment = _place(round_, "transcripts")
    wrong, hidden, words_kept = [], [], []
    for _ in range(max(1, round_.count // 4)):
        transcript = Recorded(Path(environment["CLAUDE_CONFIG_DIR"]) / "projects" / "shop", cwd=project)
        words = {name: canary(rng) for name in ("kept", "own", *HIDDEN)}
        _record(transcript, words)
        words_kept += [words["kept"], words["own"]]
        hidden += [(name, words[name]) for name in HIDDEN]
        if rng.random() < 0.5:
            event = {
                "session_id": transcript.session,
                "transcript_path": str(transcript.path),
                "cwd": str(project),
            }
            commands.hook(
                "SessionEnd",
                json.dumps({**event, "reason": "other"}).encode(),
                folder=project,
                environment=environment,
            )
    for command in (("backfill",), ("work",), ("mine",), ("maintain", "rebuild"), ("tidy",)):
        ended = commands.run(command, folder=project, environment=environment, within=60)
        if ended.code != 0:
            wrong.append(f"{command} ended with {ended.code}: {ended.error[-200:]}")
    wrong += [f"not kept: {word}" for word in words_kept if not holders(memory, word)]
    if round_.planted:
        (memory / "logs").mkdir(exist_ok=True)
        (memory / "logs" / "planted.log").write_text(hidden[0][1], encoding="utf-8")
    wrong += [f"{name} in {path}" for name, word in hidden for path in holders(memory, word)]
    round_.progress(f"{len(hidden)} hidden words, {len(wrong)} wrong")
    return Row(
        "words of a transcript that are never kept, in any byte",
        len(hidden),
        wrong,
        f"kinds: {', '.join(HIDDEN)}",
    )


HIDDEN = (
    "private", "private over lines", "unclosed private", "skipped", "tool result", "command output",
    "thought", "system reminder", "secret", "secret in a call",
)  # fmt: skip


def _record(transcript: Recorded, words: dict[str, str]) -> None:
    transcript.user(f"We keep invoices in Postgres, and call that {words['kept']}.")
    transcript.user(f"Before <private>my word is {words['private']}</private> and behind.")
    transcript.user(f"Lines <private>\none\n{words['private over lines']}\n</private> and on.")
    transcript.user(f"#skip Nobody is to keep {words['skipped']}.")
    transcript.claude("What was skipped has an answer, too.")
    transcript.user("And the notes?")  # from here on nothing is skipped
    transcript.claude(f"Agreed: {words['own']} it is.")
    transcript.call("Bash", command="cat notes.txt", result=f"It said {words['tool result']} twice.")
    transcript.user(f"<local-command-stdout>{words['command output']}</local-command-stdout>")
    thought = [{"type": "thinking", "thinking": f"Perhaps {words['thought']}.", "signature": "x"}]
    transcript.line("assistant", {"role": "assistant", "content": thought})
    transcript.user(f"<system-reminder>Mind {words['system reminder']}.</system-reminder>")
    transcript.user(f"The key is password = {words['secret']}X9q2Zt7Lw4Kp8.")
    transcript.call("Bash", command=f"export API_TOKEN={words['secret in a call']}X9q2Zt7Lw4Kp8")
    transcript.user(f"And now <private>to the end {words['unclosed private']}")


def _modes(round_: Round) -> Row:
    """Let everything write under a umask of 000, and look at who may read it."""
    memory, project, environment = _place(round_, "modes")
    Recorded(Path(environment["CLAUDE_CONFIG_DIR"]) / "projects" / "shop", cwd=project).user(
        "We keep it short."
    )
    words: Iterable[tuple[str, ...]] = (
        ("remember", "A | of the project"), ("remember", "B | of the person", "--level", "user"),
        ("save-session", "S", "--context", "c"), ("setup", "--no-model"), ("backfill",), ("work",),
        ("mine",), ("tidy",), ("recall", "person"), ("maintain", "rebuild"), ("maintain", "all"),
        ("init", "--repository"), ("doctor",), ("export", str(round_.folder / "modes" / "export")),
    )  # fmt: skip
    wrong = []
    for command in words:
        ended = commands.run(
            command, folder=project, environment=environment, before=lambda: void(os.umask(0))
        )
        if ended.code != 0:
            wrong.append(f"{' '.join(command)} ended with {ended.code}: {ended.error.strip()[-200:]}")
    for event, stdin in (
        ("SessionStart", b"{}"),
        ("SessionStart", b"{broken"),
        ("SessionEnd", b"[]"),
        ("Nothing", b"{}"),
    ):
        process = commands.start(
            [event], folder=project, environment=environment, stdin=stdin, main=commands.hooks.main,
            before=lambda: void(os.umask(0)),
        )  # fmt: skip
        process.end()
    if round_.planted:
        (memory / "ledger").chmod(0o755)
    places = [memory, project / ".claude-memory", round_.folder / "modes" / "export"]
    paths = [path for place in places for path in (place, *place.rglob("*")) if not path.is_symlink()]
    wrong += [
        f"{path.relative_to(round_.folder)} is {stat.S_IMODE(path.stat().st_mode):o}"
        for path in paths
        if path.stat().st_mode & OPEN_TO_OTHERS
    ]
    return Row("paths written under umask 000 that others may open", len(paths), wrong)


def void(_: object) -> None:
    """Drop what a call returns."""


PART = Part(
    "canaries",
    "words forgotten for good or never to be kept, looked for in every byte; modes under umask 000",
    count=40,
    quick=4,
    run=run,
)
