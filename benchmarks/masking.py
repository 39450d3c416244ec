"""
Whether secrets are masked, and what is none is left: `python -m benchmarks.masking [--missed]`.

Prints recall and precision on the kinds that the rules were made with, and on four sets that were written
when they were done. `--missed` lists what went wrong among the first, `--missed all` in all.
Ends with 1 when the recall of a set is below .95 or its precision below .99. Then comes how quickly ordinary
text is read.
"""

import argparse
import base64
import random
import re
import string
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks import (
    no_secret_kinds,
    no_secret_places,
    secret_kinds,
    secret_sentences,
    secrets_aside,
    secrets_later,
    secrets_met,
    secrets_sealed,
)
from mcp_server.core.secrets.redaction import redact

SETS = {
    "made with": (
        f"{secret_kinds.KINDS}\n{secret_sentences.KINDS}",
        no_secret_kinds.LINES + no_secret_places.LINES,
    ),
    "second": (secrets_aside.KINDS, secrets_aside.LINES),
    "third": (secrets_later.KINDS, secrets_aside.LINES),
    "fourth": (secrets_met.KINDS, secrets_met.LINES),
    "fifth": (secrets_sealed.KINDS, secrets_sealed.LINES),
}
LEAST_RECALL, LEAST_PRECISION = 0.95, 0.99
OF_EACH = 3
SEED = 20261122
ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "hex": "0123456789abcdef",
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "an": ALNUM,
    "b64": ALNUM + "+/",
    "b32": string.ascii_uppercase + "234567",
    "url": ALNUM + "_",
    "dig": string.digits,
    "let": string.ascii_letters,
    "sym": ALNUM + "!@#%^&*()-_[]{}<>~+=,.;:?|",
}
# Enough of the words of BIP 39 to make phrases of.
WORDS = (
    "ranch sibling tornado velvet cactus oyster gravity lemon puzzle walnut hockey mimic rotate swamp "
    "galaxy pepper orbit insect vivid harvest timber kitten museum napkin olive parade quantum rhythm "
    "saddle tunnel unveil wagon zebra bamboo copper dolphin enrich fabric glimpse hybrid impulse jaguar"
).split()
_MARK = re.compile(r"§(!?)([a-z0-9]+|=)(?::([A-Za-z0-9 ]+))?§")


@dataclass(frozen=True, slots=True)
class Case:
    """A text of a kind, with the parts of it that are secret."""

    kind: str
    text: str
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    positives: int
    masked: int
    negatives: int
    harmed: int

    @property
    def recall(self) -> float:
        return self.masked / self.positives

    @property
    def precision(self) -> float:
        return self.masked / (self.masked + self.harmed) if self.masked else 0.0


def _password(source: random.Random, _: str) -> str:
    digits, symbol = str(source.randint(11, 9999)), source.choice("!?#%*")
    random_part = "".join(source.choices(ALNUM, k=9))
    word = source.choice(("Sommer", "tiger", "Marigold", "falcon", "Rosebud"))
    return source.choice(
        (f"{word}{digits}{symbol}x", f"{random_part}{symbol}7a", f"{word}-{random_part[:4]}-{digits}",
         f"P4ss{word}{digits}", f"{random_part}{symbol}{word}Q9")
    )  # fmt: skip


def _phrase(source: random.Random, _: str) -> str:
    parts = [*source.sample(WORDS, 3), "".join(source.choices(ALNUM, k=4))]
    source.shuffle(parts)
    return "-".join(parts)


def _pem(source: random.Random, kind: str, line_end: str = "\n") -> str:
    lines = ["".join(source.choices(ALNUM + "+/", k=64)) for _ in range(8)]
    dashes = "-" * 5
    return line_end.join([f"{dashes}BEGIN {kind}{dashes}", *lines, f"{dashes}END {kind}{dashes}"])


def _groups(source: random.Random) -> str:
    return " ".join("".join(source.choices(string.ascii_lowercase, k=4)) for _ in range(4))


def _numbered(source: random.Random, count: str) -> str:
    return " ".join(f"{at}. {word}" for at, word in enumerate(source.sample(WORDS, int(count)), 1))


MAKERS: dict[str, Callable[[random.Random, str], str]] = {
    "pw": _password,
    "phrase": _phrase,
    "pem": _pem,
    "pem1": lambda source, kind: _pem(source, kind, "\\n"),
    "let4": lambda source, _: _groups(source),
    "words": lambda source, count: " ".join(source.sample(WORDS, int(count))),
    "nwords": _numbered,
    "b64of": lambda source, _: base64.b64encode(f"ada:{_password(source, '')}".encode()).decode("ascii"),
    "uuid": lambda source, _: re.sub(
        r"(.{8})(.{4})(.{4})(.{4})(.{12})", r"\1-\2-\3-\4-\5", f"{source.getrandbits(128):032x}"
    ),
}


def filled(template: str, source: random.Random) -> tuple[str, tuple[str, ...]]:
    """Return *template* with its marks replaced, and what replaced those that are secrets."""
    secrets = []

    def made(mark: re.Match[str]) -> str:
        plain, name, rest = mark.groups()
        if name == "=":
            return ""
        maker = MAKERS.get(name)
        value = maker(source, rest) if maker else "".join(source.choices(ALPHABETS[name], k=int(rest)))
        if not plain:
            secrets.append(value)
        return value

    text = _MARK.sub(made, template.replace("⏎", "\n"))
    return text, tuple(secrets)


def positives(kinds: str) -> Iterator[Case]:
    """Yield three texts of each of *kinds*, one a line."""
    for line in kinds.splitlines():
        if line and not line.startswith("# "):
            name, _, template = line.partition("| ")
            source = random.Random(f"{SEED} {name}")
            for _ in range(OF_EACH):
                text, secrets = filled(template, source)
                yield Case(name.strip(), f"Notes of Tuesday.\n{text}\nThat is all.", secrets)


def negatives(lines: str) -> Iterator[Case]:
    """Yield texts of each of *lines*, two where they vary."""
    for line in filter(None, lines.splitlines()):
        source = random.Random(f"{SEED} {line}")
        for text in dict.fromkeys(filled(line, source)[0] for _ in range(2)):
            yield Case(line, f"Notes of Tuesday.\n{text}\nThat is all.", ())


def is_right(case: Case) -> bool:
    masked = redact(case.text)
    if case.secrets:
        return not any(secret in masked for secret in case.secrets)
    return masked == case.text


def measured(kinds: str, lines: str) -> tuple[Figures, list[Case]]:
    """Return the figures on *kinds* of secrets and *lines* without one, and the cases that went wrong."""
    have, none = list(positives(kinds)), list(negatives(lines))
    missed, harmed = ([case for case in cases if not is_right(case)] for cases in (have, none))
    return Figures(len(have), len(have) - len(missed), len(none), len(harmed)), missed + harmed


def speed() -> float:
    """Return how many megabytes of text as developers write it are searched in a second, at best of five."""
    source = random.Random(SEED)
    vocabulary = (
        "the function returns a token when its key is found; see src/auth/session.ts:42 (`getUser`), #1234\n"
    )
    text = " ".join(source.choices(vocabulary.split(" "), k=250_000))
    seconds = []
    for _ in range(5):
        began = time.process_time()
        redact(text)
        seconds.append(time.process_time() - began)
    return len(text) / min(seconds) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missed", nargs="?", const="made with", choices=("made with", "all"))
    group_wanted = parser.parse_args().missed
    is_enough = True
    print("| kinds | positives | recall | negatives | harmed | precision |\n|---|---|---|---|---|---|")
    for name, (kinds, lines) in SETS.items():
        figures, wrong = measured(kinds, lines)
        is_enough = is_enough and figures.recall >= LEAST_RECALL and figures.precision >= LEAST_PRECISION
        print(
            f"| {name} | {figures.positives} | {figures.recall:.3f} | {figures.negatives} | {figures.harmed} "
            f"| {figures.precision:.3f} |"
        )
        for case in wrong if group_wanted in (name, "all") else ():
            print(f"  {case.kind}: {case.text.splitlines()[1:-1]} → {redact(case.text).splitlines()[1:-1]}")
    print(f"ordinary text: {speed():.1f} MB of it are read in a second of processor time")
    sys.exit(0 if is_enough else 1)


if __name__ == "__main__":
    main()
