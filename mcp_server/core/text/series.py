"""Whether two titles are of one series, as "Sprint 12" and "Sprint 13": then both hold side by side."""

import re

from mcp_server.core.text.words import STOP_WORDS, words

_DATE = re.compile(r"\b(?:\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}([-/.])\d{1,2}\1\d{4})\b")
_COUNTED = re.compile(  # a word, the number behind it, and what may be its unit
    r"(?P<word>[^\W\d]\w*)(?P<between>[\s#_-]*)(?P<number>\d[\w.:/-]*)(?=\s*(?P<unit>%|[^\W\d_]+|[€$£]))?"
)
_ATTACHED = re.compile(r"\d+(?:ms|s|h|[kmgt]i?b|px)", re.IGNORECASE)  # a number with its unit
_COUNTERS = frozenset(
    """
    adr attempt batch bug camera case chapter client customer day epic error exercise experiment floor invoice
    issue iteration job lesson machine meeting migration milestone order page paragraph part phase pr printer
    question queue release rep replica report requirement revision rfc room round rule run section sensor
    server shard shift sprint stage step story task team tenant test ticket unit week worker zone
    """.split()
)
"""Words whose number names one of many, wherever it is in a title."""
_TOOLS = frozenset(
    """
    android angular ansible bash c centos clang cuda debian deno django docker dotnet elasticsearch fedora gcc
    go gradle helm http ios java jdk js junit kafka kotlin kubernetes laravel llvm macos mariadb maven mongo
    mongodb mysql net next nginx npm nuxt openssl oracle php pnpm postgres postgresql powershell pydantic
    pytest python pytorch qt rabbitmq rails react redis ruby rust scala spark spring sqlalchemy sqlite ssl
    svelte swift tailwind terraform tls typescript ubuntu vite vue webpack windows xcode yarn
    """.split()
)
_UNITS = frozenset(
    """
    % € $ £ attempt b byte day dollar euro gb gib h hour item kb kib mb mib millisecond minute month ms
    percent px request retry retries row s second tb time year
    """.split()
)
_VALUES = frozenset("cost interval limit max maximum min minimum port quota size timeout ttl".split())
_RELEASES = frozenset(("release", "version", "v"))  # what counts although its number has a dot
_VERBS = frozenset(  # what is behind them is said of what is before them
    """
    is are was were be has have had must should can will may use used uses using run runs need needs require
    requires lives listens moved upgraded migrated pinned built deployed switched supports targets expects
    depends stays starts written ist sind läuft nutzen nutzt verwenden verwendet braucht est sont utilise
    utilisent tourne tournent es son usa usamos
    """.split()
)


def enumerates(first: str, other: str) -> bool:
    """
    Tell whether two titles are of one series, so that what they say holds side by side: "Sprint 12" and
    "Sprint 13", "ABC-1" and "ABC-2", two dates.

    A number counts when it tells one thing from its siblings. The version of a tool ("Postgres 15") and a
    value ("port 8080", "timeout 30 s") do not: another one there says something else of the same thing.
    """
    left, right = (frozenset(match[0] for match in _DATE.finditer(title)) for title in (first, other))
    if left - right and right - left:
        return True
    counted, also = _counted(first), _counted(other)
    return any(number != also[word] for word, number in counted.items() if word in also)


def _counted(title: str) -> dict[str, str]:
    """Return word → the number behind it that tells what the title is about from its siblings."""
    return {
        match["word"].lower(): match["number"] for match in _COUNTED.finditer(title) if _counts(match, title)
    }


def _counts(match: re.Match[str], title: str) -> bool:
    word, number = match["word"].lower(), match["number"]
    if word in STOP_WORDS or word in _TOOLS or _is_amount(match):
        return False
    if word == "node" and re.match(r"\d\d", number):
        return False  # "Node 22" is a version, "node 7" a machine
    if word in _COUNTERS or word.removesuffix("s") in _COUNTERS:
        return True
    if word in _VALUES or (re.search(r"\d\.\d", number) and word not in _RELEASES):
        return False
    if match["word"].isupper() and match["between"] == "-":
        return True  # ABC-12
    return _VERBS.isdisjoint(words(title[: match.start()]))


def _is_amount(match: re.Match[str]) -> bool:
    unit = (match["unit"] or "").lower()
    return unit in _UNITS or unit.removesuffix("s") in _UNITS or bool(_ATTACHED.fullmatch(match["number"]))
