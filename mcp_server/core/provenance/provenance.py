"""
Where a memory comes from, and whether it may enter the context without being asked for.

Filters do not stop poisoned memories; provenance does.
It is set by the code that stores a memory, never by a model or by what a file says of itself.
"""

MANUAL = "manual"
"""The person said it, or wrote the file in their own vault."""

ASSISTANT = "assistant"
"""Claude stored it of its own accord while it worked: shown once its words were looked up in the session."""

PUSHED_ALWAYS = frozenset({MANUAL})
PUSHED_AS_FACTS = frozenset({"extracted", "imported", "mined"})
"""Not the person's own bytes: a model or a pattern put their words, or those of their files, into these."""

OUTPUT, SEEDED = "output", "seeded"
SEARCHED_ALONE = frozenset({OUTPUT, SEEDED})
"""What programs said, and what documents say: anybody may have written it, so the person is asked first."""

SETTLED_ONCE = "waits for you: you said so once"
"""Why a candidate waits that is a sentence of the person's."""

ACCEPTED_AS = {OUTPUT: "mined", SEEDED: "imported"}
"""What such a memory becomes when the person accepts it."""


def may_be_pushed(*, source: str, in_repository: bool, accepted: bool, instructing: bool) -> bool:
    """
    Tell whether hooks and CLAUDE.md may show a memory unasked.

    *accepted*: exactly these bytes were written or accepted by the person on this machine, or Claude stored
    them and nothing in its session spoke against them (`core/provenance/origins.py`).
    Files in a repository may come from anybody, so only accepted ones are pushed.
    """
    if not accepted and (in_repository or source == ASSISTANT):
        return False
    if source == ASSISTANT:
        return True
    if source in SEARCHED_ALONE:
        return accepted and in_repository  # a private one is given another source when it is accepted
    if source in PUSHED_AS_FACTS:
        return accepted or not instructing
    return source in PUSHED_ALWAYS


def waits(source: str, text: str) -> bool:
    """
    Tell whether *text* of *source* waits for a word, the person's or that of a look at the session.

    *source* is of what is just written; what is not the person's and reads like an instruction waits.
    """
    if source == ASSISTANT or source in SEARCHED_ALONE:
        return True
    from mcp_server.core.provenance.instructions import (
        reads_like_instruction,  # hooks, which only read, need not wait
    )

    return source != MANUAL and reads_like_instruction(text)


ASKED = ("/daybook:remember", "/remember", "/daybook:save-session", "/daybook:save-conversation")
SAID = 0.6  # share of a memory's telling words that the person must have used for it to count as theirs


def source_of(text: str, prompt: str) -> str:
    """
    Return who a memory comes from that Claude stores during the turn of *prompt*.

    It is the person's when they said most of it themselves, every telling word included. It is also theirs
    when they asked for it by command, and it gives no order and names no command, URL, path or setting that
    their prompt does not.
    """
    if not prompt.strip():
        return ASSISTANT
    from mcp_server.core.provenance.telling import (  # hooks, which never ask, need not wait for it
        Text,
        telling_words,
    )
    from mcp_server.core.text.words import content_words

    turn = Text(prompt)
    unsaid = [word for word in telling_words(text) if not word.run and not word.stands_in(turn)]
    if any(word.named for word in unsaid):
        return ASSISTANT
    told = content_words(text)
    said = told & content_words(prompt)
    if told and not unsaid and len(said) / len(told) >= SAID:
        return MANUAL
    from mcp_server.core.provenance.instructions import reads_like_instruction

    asked = prompt.lstrip().startswith(ASKED)
    return MANUAL if asked and not reads_like_instruction(text) else ASSISTANT
