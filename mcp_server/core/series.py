"""
Whether two titles count in one series, so that what they say holds side by side: "Sprint 12", "Sprint 13".

A number counts when it tells one thing from its siblings. The version of a tool ("Postgres 15") and a value
("port 8080", "timeout 30 s") do not: another one there says something else of the same thing.
"""

import re

from mcp_server.core.words import STOP_WORDS

_DATE = re.compile(r"\b(?:\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}([-/.])\d{1,2}\1\d{4})\b")
_COUNTED = re.compile(  # a word, the number behind it, and whether that is an amount of something
    r"(?P<word>[^\W\d]\w*)(?P<between>[\s#_-]*)(?P<number>\d[\w.:/-]*)"
    r"(?P<unit>\s*(?:%|[kmgt]i?b\b|px\b|ms\b|s\b|h\b|€|\$|£"
    r"|(?:milli)?(?:second|minute|hour|day|month|year|percent|byte|request|row|item|time|retr|attempt|euro|"
    r"dollar)(?:s|ies)?\b))?",
    re.IGNORECASE,
)
_COUNTERS = frozenset(
    """
    adr attempt batch bug camera case chapter client customer day epic error exercise experiment floor invoice
    issue iteration job lesson machine meeting migration milestone order page paragraph part phase pr printer
    question queue release rep replica report requirement revision rfc room round rule run section sensor
    server shard shift sprint stage step story task team tenant test ticket unit week worker zone
    """.split()
)
"""Words whose number names one of many, wherever it stands in a title."""
_TOOLS = re.compile(
    # "Node 22" has a version, "node 7" a number in a cluster.
    r"(?:node(?=\W+\d\d)|android|angular|ansible|bash|c|centos|clang|cuda|debian|deno|django|docker|dotnet|"
    r"elasticsearch|fedora|gcc|go|gradle|helm|http|ios|java|jdk|junit|kafka|kotlin|kubernetes|laravel|llvm|"
    r"macos|mariadb|maven|mongodb?|mysql|net|next|nginx|npm|nuxt|openssl|oracle|php|pnpm|postgres(?:ql)?|"
    r"powershell|pydantic|pytest|python|pytorch|qt|rabbitmq|rails|react|redis|ruby|rust|scala|spark|spring|"
    r"sqlalchemy|sqlite|ssl|svelte|swift|tailwind|terraform|tls|typescript|ubuntu|vite|vue|webpack|windows|"
    r"xcode|yarn|js)(?![^\W\d_])",
    re.IGNORECASE,
)
_VALUES = frozenset(
    "cost interval limit max maximum min minimum port quota size threshold timeout ttl".split()
)
_RELEASES = frozenset(("release", "version", "v"))  # what counts although its number has a dot
_VERB = re.compile(  # what is behind it is said of what is before it
    r"\b(?:is|are|was|were|be|has|have|had|must|should|can|will|may|use[sd]?|using|runs?|needs?|requires?|"
    r"lives|listens|moved|upgraded|migrated|pinned|built|deployed|switched|supports|targets|expects|depends|"
    r"stays|starts|written|"
    r"ist|sind|läuft|nutz\w*|verwende\w*|brauch\w*|est|sont|utilise\w*|tourne\w*|es|son|usa\w*)\b",
    re.IGNORECASE,
)


def enumerates(one: str, other: str) -> bool:
    """
    Tell whether two titles are of one series: "Sprint 12" and "Sprint 13", "ABC-1" and "ABC-2", two dates.
    """
    left, right = (frozenset(found[0] for found in _DATE.finditer(title)) for title in (one, other))
    if left - right and right - left:
        return True
    counted, also = _counted(one), _counted(other)
    return any(number != also[word] for word, number in counted.items() if word in also)


def _counted(title: str) -> dict[str, str]:
    """Return word → the number behind it that tells what the title is about from its siblings."""
    return {
        found["word"].lower(): found["number"] for found in _COUNTED.finditer(title) if _counts(found, title)
    }


def _counts(found: re.Match[str], title: str) -> bool:
    word = found["word"].lower()
    if word in STOP_WORDS or found["unit"] or _TOOLS.match(title, found.start("word")):
        return False
    if word in _COUNTERS or word.removesuffix("s") in _COUNTERS:
        return True
    if word in _VALUES or (re.search(r"\d\.\d", found["number"]) and word not in _RELEASES):
        return False
    if found["word"].isupper() and found["between"] == "-":
        return True  # ABC-12
    return not _VERB.search(title, 0, found.start())
