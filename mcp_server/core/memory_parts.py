"""
The parts of a memory: what its kind, level and status, its id, text, tags, type and times may be.

They stand beside `memory.py` so that the start of a session, which makes no memory, loads no dataclass.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from mcp_server.core.digests import text_digest
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.memory_types import DEFAULT_TYPE, TYPES

DAY = 86_400  # seconds


class Kind(StrEnum):
    """What a file is; the value names one such memory, `folder` the folder that holds them."""

    KNOWLEDGE = "knowledge"
    CONVERSATION = "conversation"
    SESSION = "session"

    @property
    def folder(self) -> str:
        return "knowledge" if self is Kind.KNOWLEDGE else f"{self.value}s"


class Level(StrEnum):
    """`user` travels with the person; `team` is what a team shares; `project` belongs to one code base."""

    USER = "user"
    TEAM = "team"
    PROJECT = "project"


_NEARNESS = (Level.USER, Level.TEAM, Level.PROJECT)


def is_nearer(level: Level, other: Level) -> bool:
    """Tell whether what is said at *level* shadows what is said at *other*: project, team, user."""
    return _NEARNESS.index(level) > _NEARNESS.index(other)


class Status(StrEnum):
    """Whether a memory holds; searches find the others only when asked to."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"  # another memory took its place
    ARCHIVED = "archived"  # it aged, or was put away by hand
    ORPHANED = "orphaned"  # a node of the graph without links to active ones


ARCHIVE_FOLDER = "archive"
TRASH = "trash:"  # prefix of the place of a file that is in its vault's trash folder

ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
MAX_TITLE = 200
MAX_TEXT = 64 * 1024  # characters
MAX_CONVERSATION = 768 * 1024  # characters of a conversation, so that its file stays below a mebibyte
OCCASIONS = -1  # position of the passage of `use_when`: compared with what is asked, and not shown
MAX_LINKS = 50  # of one memory; remembering the same again adds links only up to this
MAX_TOUCHES = 50
PARTS = ";"  # stands between phrases and paths that hold commas
_NO_PARTING = rf"\{PARTS}"  # a semicolon that is part of a phrase or path
_PARTING = re.compile(rf"(?<!\\){PARTS}")


def type_or_kind(kind: Kind, type: str) -> str:
    """Return the type of a memory, or its kind when it is not knowledge."""
    return type if kind is Kind.KNOWLEDGE else kind.value


def check_id(memory_id: str) -> str:
    """Return *memory_id* unchanged; raise Rejected when it is not a valid id."""
    if not ID.fullmatch(memory_id):
        raise Rejected(
            f"'{memory_id[:80]}' is not an id.",
            "An id is lower-case letters, digits and hyphens, at most 80 characters.",
        )
    return memory_id


def typed_id(text: str) -> str:
    """Return the id in *text* as it was typed, without the spaces around it and the ending of its file."""
    return text.strip().removesuffix(".md")


def given_ids(ids: Iterable[str]) -> list[str]:
    """Return *ids* in order, each once; raise NotFound when there is none: that is no wish to do nothing."""
    if not (once := list(dict.fromkeys(ids))):
        raise NotFound("")
    return once


def ref_of(vault: str, memory_id: str) -> str:
    """Return the ref of a memory, which names it in ledger and index: the key of its vault, then its id."""
    return f"{vault}/{memory_id}"


def vault_in(ref: str) -> str:
    """Return the key of the vault in *ref*."""
    return ref.rpartition("/")[0]


def id_in(ref: str) -> str:
    """Return the id in *ref*."""
    return ref.rpartition("/")[2]


def slug(title: str) -> str:
    """Return *title* in kebab case, ASCII, at most 60 characters; '' when no letter or digit is left."""
    slug_words = ""
    for word in _ascii_words(title):
        if slug_words and len(slug_words) + 1 + len(word) > 60:
            break
        slug_words = f"{slug_words}-{word}" if slug_words else word[:60]
    return slug_words


def id_of_name(stem: str) -> str:
    """
    Return a lasting id for a file named *stem* whose frontmatter has no id: the slug of *stem*.

    A digest of *stem* is appended when letters, digits or symbols are lost, or the slug is cut.
    """
    whole = unicodedata.normalize("NFC", stem)  # macOS decomposes accents
    id_slug = slug(whole)
    decomposed = unicodedata.normalize("NFKD", whole)
    is_lossy = any(
        not character.isascii() and unicodedata.category(character)[0] in "LNS" for character in decomposed
    )
    if id_slug and not is_lossy and id_slug == "-".join(_ascii_words(whole)):
        return id_slug
    return f"{id_slug or 'memory'}-{text_digest(whole, size=4)}"


def new_id(title: str, text: str, created: datetime, attempt: int = 0) -> str:
    """
    Return an id made of the title's slug and a four-character suffix.

    The suffix is a digest of title, text and time, so that equal titles get different ids;
    another *attempt* gives another suffix when the id is taken.
    """
    number = int(text_digest(f"{title}\n{text}\n{created.isoformat()}\n{attempt}", size=8), 16)
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
    suffix = ""
    for _ in range(4):
        number, digit = divmod(number, 36)
        suffix += alphabet[digit]
    return f"{slug(latin(title)) or 'memory'}-{suffix}"


def _ascii_words(title: str) -> list[str]:
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
    return re.findall(r"[a-z0-9]+", ascii_title.lower())


def clean_text(text: str, limit: int = MAX_TEXT) -> str:
    """Return *text* with `\\n` line ends, no blank lines around it; raise Rejected if empty or too long."""
    if len(text) > 2 * limit:  # checked first, before the loop over all characters
        raise _too_long(text, limit)
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    body = strip_blank_lines(without_controls(lines))
    if not body:
        raise Rejected("A memory needs text.", "Say in a sentence or two what is worth knowing.")
    if len(body) > limit:
        raise _too_long(body, limit)
    return body


def without_controls(text: str) -> str:
    """Return *text* without control characters, but for line feeds and tabs, and without half characters."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))


def _too_long(text: str, limit: int) -> Rejected:
    return Rejected(
        f"The text has {len(text):,} characters; {limit:,} is the limit.",
        "Split it into several memories, each about one thing.",
    )


def strip_blank_lines(text: str) -> str:
    """Return *text* without leading blank lines and trailing white space."""
    return re.sub(r"\A(?:[ \t]*\n)++", "", text).rstrip()


def check_type(name: str) -> str:
    """Return *name* when it is one of the types, the default for ''; raise Rejected otherwise."""
    lowered = name.strip().lower()
    if lowered and lowered not in TYPES:
        raise Rejected(f"'{name}' is not a type of memory.", f"Use one of: {', '.join(TYPES)}.")
    return lowered or DEFAULT_TYPE


def split_list(value: str | Sequence[str]) -> tuple[str, ...]:
    """Return the parts of a list or of a comma-separated text, stripped, empty ones left out."""
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(part.strip() for part in parts if part.strip())


def parted(value: str | Sequence[str]) -> tuple[str, ...]:
    """
    Return what `split_list` does, of phrases or paths, which may hold commas.

    Where a text has a semicolon, it parts them instead, but not behind a backslash.
    """
    if not isinstance(value, str):
        return split_list(value)
    parts = _PARTING.split(value)
    return tuple(part.replace(_NO_PARTING, PARTS) for part in split_list(parts if len(parts) > 1 else value))


def as_one_text(texts: Sequence[str]) -> str:
    """Return the text in which `parted` finds *texts* again."""
    texts = [text.replace(PARTS, _NO_PARTING) for text in texts]
    if not any("," in text for text in texts):
        return ", ".join(texts)
    # After a blank, the backslash that ends a text keeps no semicolon.
    texts = [f"{text} " if text.endswith("\\") else text for text in texts]
    return f"{PARTS} ".join(texts) + (PARTS if len(texts) == 1 else "")


def fingerprint(title: str, text: str) -> str:
    """Return a digest of title and text that ignores blanks, and case outside code."""
    pieces = re.split(r"(`[^`]*`)", " ".join(f"{title}\n{text}".split()))
    normal = "".join(piece if at % 2 else piece.casefold() for at, piece in enumerate(pieces))
    return text_digest(normal)


def timestamp(moment: datetime) -> str:
    """Return *moment* as files and the ledger write it: `2026-11-20T09:12:03Z`."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def parse_timestamp(value: str) -> datetime:
    """Return an ISO 8601 date or time as an aware UTC time; raise ValueError when it does not parse."""
    moment = datetime.fromisoformat(value.strip())
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:  # converted to UTC, it is before year 1 or after year 9999
        raise ValueError(str(error)) from error


def moment_in(value: object) -> datetime | None:
    """Return the time that *value* says as `parse_timestamp` reads it, None for anything else."""
    try:
        return parse_timestamp(value) if isinstance(value, str) else None
    except ValueError:
        return None


_LETTERS = (
    "а a, б b, в v, г g, д d, е e, ё yo, ж zh, з z, и i, й y, к k, л l, м m, н n, о o, п p, р r, с s, т t,"
    " у u, ф f, х kh, ц ts, ч ch, ш sh, щ shch, ъ , ы y, ь , э e, ю yu, я ya, є ye, і i, ї yi, ґ g, ў u,"
    " ђ dj, ј j, љ lj, њ nj, ћ c, џ dz, α a, β v, γ g, δ d, ε e, ζ z, η i, θ th, ι i, κ k, λ l, μ m, ν n,"
    " ξ x, ο o, π p, ρ r, σ s, ς s, τ t, υ y, φ f, χ ch, ψ ps, ω o, ß ss, æ ae, œ oe, ø o, ł l,"
    " đ d, ð d, þ th, ı i,"
    " ا a, ب b, ة a, ت t, ث th, ج j, ح h, خ kh, د d, ذ dh, ر r, ز z, س s, ش sh, ص s, ض d, ط t, ظ z, ع a,"
    " غ gh, ف f, ق q, ك k, ل l, م m, ن n, ه h, و w, ى a, ي y, ء , پ p, چ ch, ژ zh, ک k, گ g, ی y,"
    " א a, ב b, ג g, ד d, ה h, ו v, ז z, ח ch, ט t, י y, כ k, ך k, ל l, מ m, ם m, נ n, ן n, ס s, ע a,"
    " פ p, ף p, צ ts, ץ ts, ק k, ר r, ש sh, ת t"
)
_LATIN = {pair.split(" ")[0]: pair.split(" ")[1] for pair in _LETTERS.replace(", ", ",").split(",")}
_BY_NAME = ("HIRAGANA LETTER ", "KATAKANA LETTER ", "HANGUL SYLLABLE ")


def latin(text: str) -> str:
    """
    Return *text* with Cyrillic, Greek, Arabic, Hebrew, kana and Hangul in Latin letters; others stay.

    Arabic and Hebrew are spelled as they are written, mostly without vowels. Chinese characters and Indian
    scripts are not spelled: their sound depends on the word, which a small table cannot know.
    """
    return text if text.isascii() else "".join(map(_spelled, unicodedata.normalize("NFC", text.lower())))


def _spelled(letter: str) -> str:
    if letter in _LATIN:
        return _LATIN[letter]
    bare = unicodedata.normalize("NFD", letter)[0]  # "ά" becomes "α"; Hangul is spelled by name below
    if bare in _LATIN:
        return _LATIN[bare]
    name = unicodedata.name(letter, "")
    script_name = next((script for script in _BY_NAME if name.startswith(script)), "")
    return name.removeprefix(script_name).removeprefix("SMALL ").lower() if script_name else letter
