"""
The part of a turn that the person wrote themselves, without what they pasted from others.

A README, an e-mail, a chat, a log, another model's answer: the person does not settle what these say.
A paste is recognised by its form (a fence, `>`, quotation marks, a mail header) or by an announcement ("The
README says:"). Patterns err, but what is taken for a paste can still be found in the conversation.
Made on the sessions of `tests/data/extraction` that are not held out.
"""

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from mcp_server.core import markdown

GAP = "\n\x00\n"  # replaces what is left out, so that no pattern matches across it
FEW = 2  # a fenced block of up to so many lines counts as the person's, such as a command to run
SHORTEST_SPEECH = 6  # from so many words on, quoted words are another's speech; fewer name a thing

_HEAD = re.compile(
    r"^\W{0,3}(?:from|to|cc|date|sent|subject|von|an|gesendet|betreff|datum|de|à|objet|envoyé|para|asunto|fecha"
    r"|da|a|oggetto|data|assunto|от|кому|тема|дата|发件人|收件人|主题|差出人|宛先|件名)\s?[:：]\s?\S",
    re.IGNORECASE,
)
_CHAT = re.compile(
    r"^\W{0,3}[\w.@ -]{1,40}\s{1,4}[\[(]?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?\s?(?:[ap]m)?[\])]?:?\s*$",
    re.IGNORECASE,
)
_STAMPED = re.compile(
    r"^\W?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\]?\s|\s+at [\w.$<>]+\("
    r"|\s*File \"[^\"]+\", line \d+|[\w$.]*(?:Error|Exception)\b\s?[:(]|E\s{2,}\S|FAILED \S)"
)
_TRACE = re.compile(r"^\s*(?:Traceback \(most recent call last\)|panic: |thread '\w+' panicked|Caused by:)")
_SOURCES = (
    r"readme|e-?mail|mail|message|slack|teams|discord|chat|thread|chatgpt|gpt[\w.-]*|gemini|copilot|llm|docs?"
    r"|documentation|manual|guide|page|article|blog|post|issue|ticket|comment|review|logs?|output|error|trace"
    r"|response|answer|quote|transcript|changelog|spec|contract|policy|text|snippet"
    r"|nachricht|antwort|ausgabe|fehler|seite|artikel|anleitung|courriel|réponse|sortie|erreur|correo|respuesta"
    r"|salida|página|messaggio|risposta|pagina|resposta|mensagem|письмо|ответ|ошибка|лог"
)
_SAYS = (
    r"says|said|writes|wrote|replied|answered|states|reads|schreibt|schrieb|sagt|meint|dit|écrit|dice|escribe"
    r"|scrive|diz|escreve|пишет|говорит"
)
_SHOWS = (
    r"here(?:['’]?s| is| are)|this is|these are|below|the following|look at|see|got|get|received|found|pasted"
    r"|from|hier(?: ist| sind)?|das ist|von|voici|ceci est|aquí|este es|ecco|questo|aqui|вот|это"
)
_ASKS = (
    r"summari[sz]e|translate|explain|proofread|rephrase|reply to|respond to|answer this|fass\w* zusammen"
    r"|übersetze?|erkläre?|beantworte|résume|traduis|explique|réponds|traduce|resume|explica|responde|traduci"
    r"|riassumi|traduza|resuma|переведи|объясни"
)
_ANNOUNCES = re.compile(
    rf"\b(?:{_SAYS})\b|\b(?:{_SHOWS})\b.*\b(?:{_SOURCES})\b|^\W*(?:{_ASKS})\b"
    r"|^\W*(?:readme|e-?mail|mail|slack|chatgpt|gemini|copilot|ticket|issue)\b"
    r"|邮件|说|写道|日志|メール|によると|ログ",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|our|i|we|mein\w*|unser\w*|ich|wir|mon|mes|nos|notre|je|nous|mis?|nuestr\w+|mio|nostr\w+|meu"
    r"|noss\w+|мой|наш\w*|мы|我们|私)\b(?: \w+){0,2} ?"
    r"(?:rules?|answers?|decision|comments?|review|message|said|regeln?|antwort\w*|règles?|réponses?|reglas?|respuestas?|правила|ответ\w*)\b",
    re.IGNORECASE,
)
_DELIMITER = re.compile(r"^\s*(?:\"\"\"|'''|“{2,}|<{3,}|-{3,}8<-{3,})\s*$|^\s*(?:\"\"\"|''')")
_TAG = re.compile(r"^\s*<([a-z][\w-]{1,40}(?: id=\"[^\"]{1,64}\")?)>\s*$", re.IGNORECASE)
_SPEECH = re.compile(
    r"\"([^\"\n]{20,})\"|“([^”\n]{20,})”|„([^“”\n]{20,})[“”]|«([^»\n]{20,})»|「([^」\n]{12,})」"
)


@functools.lru_cache(maxsize=512)
def own_words(turn: str) -> str:
    """Return *turn*, one of the person's, with GAP in place of each passage that others wrote."""
    parts, at = [], 0
    for start, end in others_words(turn):
        parts += [turn[at:start], GAP]
        at = end
    return "".join([*parts, turn[at:]])


def others_words(turn: str) -> list[tuple[int, int]]:
    """Return from where to where others wrote *turn*, one of the person's: pastes, and quoted speech."""
    lines = turn.split("\n")
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]  # of each line, and past the last
    spans: list[tuple[int, int]] = []
    at = own_from = 0
    while at < len(lines):
        begin, end = at, _paste_end(lines, at)
        if end == at and _announces(lines[at]):
            begin, end = at + 1, _announced_end(lines, at + 1)
        if end == begin:
            at = begin + (begin == at)
            continue
        spans += [*_speech(turn, own_from, starts[begin]), (starts[begin], starts[end] - 1)]
        at, own_from = end, starts[end] - 1
    return [*spans, *_speech(turn, own_from, len(turn))]


def _paste_end(lines: Sequence[str], at: int) -> int:
    """Return the number of the line after a paste that begins at line *at*, known by its form; else *at*."""
    line = lines[at]
    if line.lstrip().startswith(">"):
        return _while(lines, at, lambda following: following.lstrip().startswith(">"))
    if fence := markdown.opens(line):
        end = next((n + 1 for n in range(at + 1, len(lines)) if markdown.closes(lines[n], fence)), len(lines))
        return end if end - at - 2 > FEW else at
    if _DELIMITER.match(line):
        mark = line.strip()[:3]
        if line.strip() != mark and line.strip().endswith(mark) and len(line.strip()) > len(mark):
            return at + 1
        return next((n + 1 for n in range(at + 1, len(lines)) if mark in lines[n]), len(lines))
    if tag := _TAG.match(line):
        closing = f"</{tag[1].lower()}>"
        return next((n + 1 for n in range(at + 1, len(lines)) if closing in lines[n].lower()), at)
    if _HEAD.match(line) and sum(bool(_HEAD.match(following)) for following in lines[at : at + 4]) >= 2:
        return len(lines)
    if _CHAT.match(line) or _TRACE.match(line):
        return _while(lines, at, lambda following: bool(following.strip()))
    return at + 1 if _STAMPED.match(line) else at


def _announces(line: str) -> bool:
    """Tell whether *line* says that the words of others follow."""
    return line.rstrip().endswith((":", "：")) and bool(_ANNOUNCES.search(line)) and not _OWN.search(line)


def _announced_end(lines: Sequence[str], at: int) -> int:
    """
    Return the number of the line after the paste that the line before *at* announces.

    A fenced or quoted paste ends where its form ends. Any other goes on to the end of the turn, without a
    last paragraph that asks something.
    """
    begin = _while(lines, at, lambda line: not line.strip())
    if begin == len(lines):
        return at
    if (end := _paste_end(lines, begin)) > begin or markdown.opens(lines[begin]):
        return end
    last = max((n + 1 for n in range(begin, len(lines)) if not lines[n].strip()), default=0)
    asks = 0 < last < len(lines) and "\n".join(lines[last:]).rstrip().endswith(("?", "？"))
    return last if asks else len(lines)


def _while(lines: Sequence[str], at: int, holds: Callable[[str], bool]) -> int:
    return next((n for n in range(at, len(lines)) if not holds(lines[n])), len(lines))


def _speech(turn: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield from where to where another's speech is quoted in a part of *turn*."""
    for match in _SPEECH.finditer(turn, start, end):
        words = next(filter(None, match.groups()))
        if len(words.split()) >= SHORTEST_SPEECH or (not words.isascii() and " " not in words):
            yield match.span()
