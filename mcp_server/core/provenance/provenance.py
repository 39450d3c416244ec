"""
Where a memory comes from, and whether it may enter the context without being asked for.

Filters do not stop poisoned memories; provenance does.
The code that stores a memory sets its provenance; never a model, nor what a file says about itself.
"""

MANUAL = "manual"
"""The person said it, or wrote the file in their own vault."""

ASSISTANT = "assistant"
"""Claude stored it unasked while it worked: shown after Daybook looked up its words in the session."""

TRANSCRIPT = "transcript"
"""The worker wrote down what was said in a session; found by search alone."""

PUSHED_ALWAYS = frozenset({MANUAL})
PUSHED_AS_FACTS = frozenset({"extracted", "imported", "mined"})
"""Not written by the person: a model or a pattern made them of the person's words or files."""

OUTPUT, SEEDED = "output", "seeded"
SEARCHED_ALONE = frozenset({OUTPUT, SEEDED})
"""Output of programs, and documents: anyone may have written them, so the person is asked first."""

SETTLED_ONCE = "waits for you: you said it once"
"""Why a candidate that is a sentence of the person waits."""

ACCEPTED_AS = {OUTPUT: "mined", SEEDED: "imported"}
"""The source of such a memory after the person accepts it."""


def may_be_pushed(*, source: str, in_repository: bool, accepted: bool, instructing: bool) -> bool:
    """
    Tell whether hooks and CLAUDE.md may show a memory unasked.

    *accepted*: exactly these bytes were written or accepted by the person on this machine, or Claude stored
    them and nothing in its session spoke against them (`core/provenance/origins.py`).
    Files in a repository may come from anyone, so only accepted ones are shown unasked.
    """
    if not accepted and (in_repository or source == ASSISTANT):
        return False
    if source == ASSISTANT:
        return True
    if source in SEARCHED_ALONE:
        return accepted and in_repository  # accepting a private one changes its source
    if source in PUSHED_AS_FACTS:
        return accepted or not instructing
    return source in PUSHED_ALWAYS


def waits(source: str, text: str) -> bool:
    """
    Tell whether a new memory *text* from *source* waits, for the person or for a check of the session.

    A text that is not the person's and reads like an instruction waits, too.
    """
    if source == ASSISTANT or source in SEARCHED_ALONE:
        return True
    # Loaded late: hooks only read and do not need it.
    from mcp_server.core.provenance.instructions import reads_like_instruction

    return source != MANUAL and reads_like_instruction(text)


ASKED = ("/daybook:remember", "/remember", "/daybook:save-session", "/daybook:save-conversation")
SAID = 0.6  # share of a memory's telling words that the person must have used for it to count as theirs


def source_of(text: str, prompt: str) -> str:
    """
    Return the source of a memory *text* that Claude stores in the turn of *prompt*.

    It is the person's when they said most of it themselves, with every telling word. It is also theirs
    when they asked for it by command, and it gives no order and has no command, URL, path or setting that
    is not in their prompt.
    """
    if not prompt.strip():
        return ASSISTANT
    from mcp_server.core.provenance.telling_words import (  # hooks, which never ask, need not wait for it
        Text,
        telling_words,
    )
    from mcp_server.core.text.words import content_words

    turn = Text(prompt)
    unsaid = [word for word in telling_words(text) if not word.run and not word.stands_in(turn)]
    if any(word.named for word in unsaid):
        return ASSISTANT
    memory_words = content_words(text)
    from_prompt = memory_words & content_words(prompt)
    if memory_words and not unsaid and len(from_prompt) / len(memory_words) >= SAID:
        return MANUAL
    from mcp_server.core.provenance.instructions import reads_like_instruction

    is_command = prompt.lstrip().startswith(ASKED)
    return MANUAL if is_command and not reads_like_instruction(text) else ASSISTANT
