"""The types of a memory, one row each; everything that depends on the type follows from its row."""

from enum import StrEnum
from typing import NamedTuple


class BriefHeading(StrEnum):
    """The heading of the brief under which memories of a type are listed."""

    SETTLED = "settled"
    PREFERENCES = "preferences"
    IN_PROGRESS = "in progress"
    LATELY = "lately"


class Type(NamedTuple):
    """
    One type of memory.

    `meaning` says to a model what has this type, '' where a model is not to choose it.
    `topic` is its heading in the managed block (`core/context/managed_block.TOPICS`), `colour` and `shape`
    (`core/graph/svg.SHAPES`) are those of its nodes in a picture. `trust_half_life` and `currency_life` are
    in days (docs/ratings.md); None: the usual half-life, and always current. `ages`: memories without a sign
    of life are archived.
    `general`: it belongs to the user level, unless it names the project.
    `others` are the types and categories of other tools that mean the same.

    `headings` is a regular expression for the headings of documents under which it stands, `sentences` one
    for sentences of a session, with a `confidence` from 0 to 1; `person_only`: only the person can say it.
    Where the words of several types are found, the type with the lowest `rank` wins.
    """

    name: str
    meaning: str
    brief_heading: BriefHeading
    topic: str
    colour: str
    shape: str
    trust_half_life: float | None = None
    currency_life: float | None = None
    ages: bool = False
    general: bool = False
    others: tuple[str, ...] = ()
    rank: int = 9
    headings: str = ""
    sentences: str = ""
    confidence: float = 0.0
    person_only: bool = False


_THING = r"(?:project|repo(?:sitory)?|app(?:lication)?|code ?base|service|api|back-?end|front-?end|server)"
ROWS = (
    Type(
        "architecture",
        "how the system is built",
        BriefHeading.SETTLED,
        "Architecture",
        "#4477aa",
        "hexagon",
        trust_half_life=180.0,
        others=("constraint", "design", "component"),
        rank=4,
        headings=r"architecture|design|code map|components|layers|invariants|data (?:model|flow)",
        sentences=rf"\b(?:this|the|our) {_THING}\b[^.]{{0,20}}"
        r"\b(?:uses|is built (?:with|on)|runs on|is written in|relies on|stores)\b"
        r"|\b(?:requires?|needs|runs on|upgraded? to|pinned (?:to|at)|targets?)"
        r" [a-z][\w.+#-]*(?: version)? v?\d+(?:\.\d+)*",
        confidence=0.85,
    ),
    Type(
        "decision",
        "what was chosen, and why",
        BriefHeading.SETTLED,
        "Key decisions",
        "#aa3377",
        "diamond",
        trust_half_life=180.0,
        rank=1,
        headings=r"decisions?|adrs?|rationale|decided against",
        sentences=r"\b(?:we|i|let'?s|team)\b[^.]{0,30}\b(?:decided|chose|agreed|settled|opted|picked)\b"
        r"|\b(?:decided|chose|agreed|opted) (?:to|on|for|that|against|\w+ over)\b"
        r"|\b(?:go(?:ing)?|went|stick(?:ing)?) with \w+[^.]{0,80}\b(?:because|since|instead|over)\b",
        confidence=0.8,
    ),
    Type(
        "pattern",
        "a convention to follow",
        BriefHeading.SETTLED,
        "Patterns & preferences",
        "#228833",
        "square",
        trust_half_life=60.0,
        others=("convention", "principle", "snippet", "workflow"),
        rank=5,
        headings=r"conventions?|styles?|style guide|patterns?|guidelines?|best practices|habits",
        sentences=r"\b(?:convention|by convention|naming scheme|every \w+ (?:must|has to))\b",
        confidence=0.6,
    ),
    Type(
        "gotcha",
        "a trap, and the way out",
        BriefHeading.SETTLED,
        "Gotchas",
        "#cc3311",
        "triangle",
        trust_half_life=180.0,
        others=("antipattern", "bug", "landmine", "lesson"),
        rank=3,
        headings=r"gotchas?|pitfalls?|traps?|caveats?|troubleshooting|known (?:issues|problems|limitations)",
        sentences=r"\b(?:the (?:bug|problem|issue|root cause|culprit) (?:was|is) (?:that|caused|due|in)"
        r"|turns out|gotcha|(?:breaks|fails) (?:when|if|unless|because))\b",
        confidence=0.75,
    ),
    Type(
        "progress",
        "what is done and what comes next",
        BriefHeading.IN_PROGRESS,
        "In progress",
        "#ee7733",
        "arrow",
        currency_life=7.0,
        ages=True,
        others=("episodic", "todo", "task"),
    ),
    Type(
        "context",
        "why the work is done, for whom, until when",
        BriefHeading.LATELY,
        "Context",
        "#009988",
        "plus",
        currency_life=30.0,
        ages=True,
        others=("conversation",),
    ),
    Type(
        "preference",
        "how this person wants things done, in every project",
        BriefHeading.PREFERENCES,
        "Patterns & preferences",
        "#ccaa22",
        "star",
        trust_half_life=60.0,
        general=True,
        rank=2,
        sentences=r"\bi (?:really |strongly )?(?:prefer|like to|want you to|don'?t (?:like|want))\b",
        confidence=0.8,
        person_only=True,
    ),
    Type(
        "reference",
        "where something is found",
        BriefHeading.LATELY,
        "Context",
        "#8866cc",
        "funnel",
        trust_half_life=120.0,
        others=("command", "documentation", "project"),
        rank=6,
        headings=r"install(?:ation|ing)?|usage|configur(?:ation|ing)|settings|environment variables|commands?"
        r"|api|reference|getting started|quick ?start|set-?up|requirements|dependencies",
    ),
    Type("note", "", BriefHeading.LATELY, "Context", "#778899", "circle", ages=True),
)
TYPES = tuple(row.name for row in ROWS)
DEFAULT_TYPE = "note"
GENERAL = frozenset(row.name for row in ROWS if row.general)


def types_under(heading: BriefHeading) -> tuple[str, ...]:
    """Return the types that the brief lists under *heading*."""
    return tuple(row.name for row in ROWS if row.brief_heading is heading)


def listed_for_prompt() -> str:
    """Return the types as a prompt lists them, as in "`gotcha` (a trap, and the way out)"."""
    return ", ".join(f"`{row.name}` ({row.meaning})" for row in ROWS if row.meaning)


def by_rank() -> list[Type]:
    """Return the rows in the order in which their words are looked for, the lowest rank first."""
    return sorted(ROWS, key=lambda row: row.rank)
