"""
Telling words: the words of a memory that show its origin when they are looked up in a session.

They are names, numbers, paths, URLs, commands, settings and rare words, and also runs of four words, which
show that a text was copied word for word.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcp_server.core.digests import text_digest
from mcp_server.core.text.everyday_words import EVERYDAY
from mcp_server.core.text.text_relation import negates, numbers_in
from mcp_server.core.text.words import STOP_WORDS
from mcp_server.core.unseen import UNSEEN_OR_MARK

MOST = 160  # telling words of one text, and as many runs; a longer text is known by the first of them
LONGEST = 200  # characters of one of them
RUN = 4  # words of a run
SHORTEST_RARE = 4  # letters of a rare word
PIECE = 3  # characters of a piece of a script that puts no blanks between words

PROGRAMS = (
    "apt apt-get aws az bash brew bun bundle cargo chmod chown cmake composer conda crontab curl dd deno"
    " docker docker-compose dotnet dnf eval exec gcloud gem gh git go gradle helm heroku iptables java just"
    " kill kubectl ln make mkfs mount mvn mysql nc ncat netcat node npm npx openssl perl php pip pip3 pipx"
    " pnpm podman poetry powershell psql pwsh pytest python python3 redis-cli rm rsync ruby rustup scp"
    " sed sh snap source ssh ssh-keygen su sudo systemctl tar tee terraform uv uvx vercel wget yarn zsh"
).split()

_UNSEEN = re.compile(UNSEEN_OR_MARK)
_SPAN = re.compile(r"(?<!`)`++([^`\n]{2,200})`+")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`|)\]}，。、]+", re.IGNORECASE)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*")
_PATH = re.compile(r"(?<![\w/.~@-])(?:~|\.{1,2}|[\w.@-]+)?(?:[/\\][\w.@$%-]+)+/?")
_DOTTED = re.compile(
    r"(?<![\w/.@-])\.?[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]+)+(?::\d+)?|(?<![\w/.-])\.[a-z]{3,}\b", re.ASCII
)
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]+(?:=\S+)?", re.ASCII)
_SETTING = re.compile(
    r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\b[a-z]\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|(?<!\S)[\w.-]{2,}=[^\s,;]+"
)
_COMMAND = re.compile(rf"(?<![\w./-])(?:{'|'.join(PROGRAMS)})(?: +[\w./@:$~=+-]+){{1,3}}")
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:]*\d\w*|(?<![\w.])\d{2,}\w*|(?<![\w.])\d+[A-Za-z%]+")
_NAME = re.compile(r"(?<!\w)@?[A-Za-z]\w*+(?:[-+#][\w+#]++)+|@[\w/-]+", re.ASCII)
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_ENDING = re.compile(r"(?:ing|edly|ed|ies|es|s|ly|er|ers)$")


@dataclass(frozen=True, slots=True)
class TellingWord:
    """
    One telling word, as it is looked up in a folded text.

    `named`: it is a command, a URL, a path or a setting, which an attacker could use.
    `anchor` occurs in every text that has the word. A `run` is looked up in the words alone.
    """

    word: str
    anchor: str
    pattern: "re.Pattern[str] | None"
    named: bool = False
    run: bool = False

    def stands_in(self, text: "Text") -> bool:
        """Tell whether the word is in *text*."""
        if self.anchor not in text.folded:
            return False
        if self.run:
            return all(word in text.folded for word in self.word.split()) and f" {self.word} " in text.words
        return self.pattern is None or self.pattern.search(text.folded) is not None


class Text:
    """A text of a session, folded only once for all words that are looked up in it."""

    __slots__ = ("_words", "folded")

    def __init__(self, text: str) -> None:
        self.folded = folded(text)
        self._words: str | None = None

    @property
    def words(self) -> str:
        """The words alone, a blank before and behind each."""
        if self._words is None:
            self._words = f" {' '.join(_WORD.findall(self.folded))} "
        return self._words


def folded(text: str) -> str:
    """Return *text* without case, width and invisible characters, with single blanks."""
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(text.casefold().split())


def telling_words(text: str) -> list[TellingWord]:
    """Return the telling words of *text*: first the `named` ones, last the runs of words."""
    named_words = dict.fromkeys(_cut(_named(text)))
    plain = dict.fromkeys(word for word in _cut(_plain(text)) if word not in named_words)
    words = [_telling(word, named=True) for word in named_words] + [_telling(word) for word in plain]
    return [*words[:MOST], *_runs(text)]


def telling_digest(title: str, text: str) -> str:
    """Return a digest that is equal as long as no telling word, number or negation of a memory changes."""
    content = f"{title}\n{text}"
    words = {word.word for word in telling_words(content) if not word.run} | numbers_in(content)
    return text_digest("\n".join([*sorted(words), "not" if negates(content) else ""]))


def _named(text: str) -> Iterator[str]:
    for pattern in (_URL, _MAIL):
        yield from (match[0].rstrip(".,;:!?") for match in pattern.finditer(text))
    rest = _URL.sub("\n", text)  # what stands on both sides of one is no command
    yield from (match[1].strip() for match in _SPAN.finditer(text))
    yield from (match[0].rstrip(".,;:") for match in _PATH.finditer(rest) if _is_path(match[0]))
    for pattern in (_DOTTED, _FLAG, _SETTING):
        yield from (match[0].rstrip(".,;:") for match in pattern.finditer(rest))
    yield from (_command(match[0]) for match in _COMMAND.finditer(rest) if _is_command(match[0]))


def _command(text: str) -> str:
    """Return a command without the prose that follows it: "make docs before saying" is "make docs"."""
    words = text.rstrip(".,;:").split()
    while len(words) > 2 and (words[-1] in STOP_WORDS or stem(words[-1]) in EVERYDAY):
        words.pop()
    return " ".join(words)


def _is_path(text: str) -> bool:
    """Tell whether *text*, which has a slash, is a path, not "and/or" or "read/write"."""
    return text[0] in "/~.\\" or text.count("/") + text.count("\\") > 1 or "." in text


def _is_command(text: str) -> bool:
    """Tell whether *text*, which begins like a program, is a command, not "go on" or "make sure"."""
    program, *rest = text.split()
    english = {"go", "make", "just", "kill", "source", "node", "exec", "tar", "mount", "snap", "helm", "tee"}
    return program not in english or any(not word.isalpha() or word in _SUBCOMMANDS for word in rest[:1])


_SUBCOMMANDS = frozenset("test build run install get check clean all lint deploy release vet mod".split())


def _plain(text: str) -> Iterator[str]:
    yield from (match[0].rstrip(".,:") for match in _NUMBER.finditer(text))
    yield from (match[0] for match in _NAME.finditer(text))
    for match in _WORD.finditer(text):
        word = match[0]
        if unspaced := _UNSPACED.findall(word):
            for run in unspaced:
                yield from (run[at : at + PIECE] for at in range(max(1, len(run) - PIECE + 1)))
        elif _is_rare(word):
            yield word


def _is_rare(word: str) -> bool:
    lower = word.casefold()
    if word.isdigit() or lower in STOP_WORDS or lower in EVERYDAY:
        return False
    if word[0].isupper() and len(word) > 2 and word[1:] != word[1:].lower():
        return True  # an abbreviation, or a name with a hump
    return len(word) >= SHORTEST_RARE and stem(lower) not in EVERYDAY


def _cut(words: Iterable[str]) -> Iterator[str]:
    return (word for candidate in words if (word := folded(candidate)[:LONGEST].strip()))


def _telling(word: str, *, named: bool = False) -> TellingWord:
    if not named and word.isascii() and word.isalpha():
        root = stem(word)
        return TellingWord(word, root, re.compile(rf"(?<!\w){root}\w{{0,4}}(?!\w)"))
    if _UNSPACED.fullmatch(word):
        return TellingWord(word, word, None)
    begin = r"(?<!\w)" if word[0].isalnum() or word[0] == "_" else ""
    end = r"(?!\w)" if word[-1].isalnum() or word[-1] == "_" else ""
    return TellingWord(word, word, re.compile(f"{begin}{re.escape(word)}{end}"), named=named)


def stem(word: str) -> str:
    """Return *word*, in lower case, without its English ending where enough of it is left."""
    root = _ENDING.sub("", word) if len(word) > 4 and word.isascii() else word
    return root if len(root) >= SHORTEST_RARE else word


def _runs(text: str) -> list[TellingWord]:
    """Return the runs of four words in *text*, of which two or more tell something."""
    words = _WORD.findall(folded(text))
    length = min(RUN, len(words))
    runs: dict[str, TellingWord] = {}
    for at in range(len(words) - length + 1 if length > 1 else 0):
        run = words[at : at + length]
        content = [word for word in run if word not in STOP_WORDS]
        if len(content) >= min(2, length):
            phrase = " ".join(run)
            runs[phrase] = TellingWord(phrase, max(content, key=len), None, run=True)
        if len(runs) >= MOST:
            break
    return list(runs.values())
