"""
Where a memory comes from, and whether it may enter the context without being asked for.

Filters do not stop poisoned memories; provenance does.
It is set by the code that stores a memory, never by a model or by what a file says of itself.
"""

import re
import unicodedata

MANUAL = "manual"
"""The person said it, or wrote the file in their own vault."""

ASSISTANT = "assistant"
"""Claude stored it of its own accord while it worked."""

PUSHED_ALWAYS = frozenset({MANUAL})
PUSHED_AS_FACTS = frozenset({ASSISTANT, "extracted", "imported", "mined"})
"""Not the person's own bytes: a model or a pattern put them into words."""

OUTPUT, SEEDED = "output", "seeded"
SEARCHED_ALONE = frozenset({OUTPUT, SEEDED})
"""What programs said, and what documents say: anybody may have written it, so it is never shown unasked."""

# Each pattern with the words of which one must be there for it to match: looking for them is much quicker.
# `re` compiles them when they are first searched for: the start of a session has no use for them.
_INSTRUCTIONS = [
    (words.split("|"), pattern)
    for words, pattern in (
        (
            "ignore|disregard|forget|override",
            r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|other)\b"
            r".{0,40}\b(?:instructions?|rules?|prompts?|messages?|guidelines?)\b",
        ),
        (
            "do not|don't|never|without",
            r"\b(?:do not|don't|never|without)\b.{0,20}"
            r"\b(?:tell|telling|inform|informing|mention|ask|asking|show)\b"
            r".{0,20}\b(?:the )?(?:user|human|person|developer)\b",
        ),
        ("http", r"\b(?:send|post|upload|forward|exfiltrate|curl|wget)\b.{0,80}\bhttps?://"),
        ("you are now|you must|from now on", r"\byou (?:are now|must (?:now|always))|from now on"),
        ("your new", r"\byour new (?:role|task|instructions?)\b"),
        (
            "always|silently|secretly|automatically",
            r"\b(?:always|silently|secretly|automatically)\s+"
            r"(?:run|execute|eval|install|download|fetch|approve|accept)\b",
        ),
        (
            "<",
            r"(?<!\w)</?\s*(?:system|assistant|user|human|tool_use|tool_result|function_calls?|instructions?)\b"
            r"[^>]{0,80}>",
        ),
        ("system:|assistant:|human:", r"^[\s#]*(?:system|assistant|human):"),
        ("<|im_|[inst|[/inst|{{tool|antml:", r"<\|im_\w+\|>|\[/?inst\]|\{\{tool\b|\bantml:\w"),
        ("tool|mcp__", r"\b(?:use|call|invoke) (?:the )?\w+ tool\b|\b(?:run|call|invoke) mcp__\w"),
        (
            "system prompt|previous instructions|new instructions",
            r"\b(?:drop|ignore|replace|reveal|print) your system prompt"
            r"|\byour previous instructions"
            r"|\bnew instructions for (?:the |an? )?(?:agent|assistant|model|claude)",
        ),
        (
            "silently|secretly|quietly",
            r"\b(?:silently|secretly|quietly) (?:switch|delete|remove|push|commit|deploy|change|add)\b",
        ),
        (
            "recommend|suggest|steer",
            r"\balways (?:recommend|suggest)\b|\bsteer (?:the |every )?(?:person|user|people|users)\b"
            r"|\bwhen(?:ever)? (?:you are )?asked\b.{0,60}\b(?:recommend|suggest)\b",
        ),
        (
            "approved|confirmed|permission mode",
            r"\b(?:user|person|human) (?:has )?already (?:approved|confirmed)\b"
            r"|\b(?:user|person|human) (?:has )?(?:approved|confirmed) (?:that|yesterday)\b"
            r"|\byour permission mode\b",
        ),
        (
            "decode|base64|rot13|hex|morse|backwards|unescape",
            r"\b(?:decode|base64|rot13|hex|morse|backwards|unescape)\b.{0,120}"
            r"\b(?:obey|follow|apply it|execute|run after|do what it says|do it)\b"
            r"|\b(?:rot13|hex|morse)\b.{0,40}\bto execute\b",
        ),
        (
            "ignor|negeer|игнорируй|忽略|無視|무시|تجاهل",
            r"\bignor\w+ (?:alle|toutes|todas|tutte) .{0,30}\b(?:anweisung|regel|instruc|istruzion|instruç)"
            r"|\bnegeer .{0,20}\binstructies|игнорируй .{0,30}инструкци|忽略.{0,12}(?:指令|指示)"
            r"|指示.{0,10}無視|지시.{0,6}무시|تجاهل .{0,12}التعليمات",
        ),
        ("curl|wget", r"\b(?:curl|wget)\b[^|\n]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"),
    )
]


_ALIKE = str.maketrans("аеорсухіѕјАВЕКМНОРСТХІ", "aeopcyxisjABEKMHOPCTXI")
_ODD = "[^\\x00-\\xac\\xae-\\xff\\u2010-\\u2027]"
_UNSEEN = "[\\u00ad\\u0300-\\u036f\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]"
_MIXED = r"\b(?=\w*[a-zA-Z])(?=\w*[а-яА-ЯіѕјІ])\w+"  # a word of two alphabets


def reads_like_instruction(text: str) -> bool:
    """Tell whether *text* tries to steer a model instead of stating a fact; advisory, both ways."""
    # Wide and bold letters, and those of other alphabets that look like ours.
    if not text.isascii() and re.search(_ODD, text):
        text = re.sub(_UNSEEN, "", unicodedata.normalize("NFKC", text))
        text = re.sub(_MIXED, lambda word: word[0].translate(_ALIKE), text)
    folded = text.lower()
    if "  " in folded or "\t" in folded:
        folded = re.sub(r"[ \t]+", " ", folded)
    return any(
        re.search(pattern, folded, re.IGNORECASE | re.MULTILINE)
        for words, pattern in _INSTRUCTIONS
        if any(word in folded for word in words)
    )


def may_be_pushed(*, source: str, in_repository: bool, accepted: bool, instructing: bool) -> bool:
    """
    Tell whether hooks and CLAUDE.md may show a memory unasked.

    *accepted*: the person wrote or accepted exactly these bytes on this machine.
    Files in a repository may come from anybody, so only accepted ones are pushed.
    """
    if in_repository and not accepted:
        return False
    if source in PUSHED_AS_FACTS:
        return accepted or not instructing
    return source in PUSHED_ALWAYS


ASKED = ("/daybook:remember", "/remember", "/daybook:save-session", "/daybook:save-conversation")
SAID = 0.6  # share of a memory's telling words that the person must have used for it to count as theirs


def source_of(text: str, prompt: str) -> str:
    """
    Return who a memory comes from that Claude stores during the turn of *prompt*.

    It is the person's when they asked for it by command or said most of it themselves.
    """
    if prompt.lstrip().startswith(ASKED):
        return MANUAL
    from mcp_server.core.words import content_words  # hooks, which never ask, need not wait for it

    told = content_words(text)
    said = told & content_words(prompt)
    return MANUAL if told and len(said) / len(told) >= SAID else ASSISTANT
