"""
Whether a turn of the person supports a change that Claude makes to a memory in the person's words.

Such a memory is replaced at once only by what the person said themselves; the tests for that are here.
"""

import re

from mcp_server.core.provenance.provenance import SAID
from mcp_server.core.provenance.telling_words import Text, folded, stem, telling_words
from mcp_server.core.text.text_relation import negates, numbers_in
from mcp_server.core.text.words import content_words

_FORGETTING = re.compile(
    r"\b(?:forget|delete|remove|drop|discard|erase|trash|get rid|obsolete|outdated|no longer"
    r"|vergiss|vergessen|lösche?n?|entferne?n?|oublie[rz]?|supprime[rz]?|efface[rz]?"
    r"|olvida|borra|elimina|dimentica|cancella|apaga)\b",
    re.IGNORECASE,
)

_MOVING = re.compile(
    r"\b(?:move|level|user|everywhere|global(?:ly)?|(?:all|every|other|this|only) (?:my |the )?projects?"
    r"|verschiebe?n?|überall|alle[nr]? projekte?n?|déplace[rz]?|partout|mueve|sposta|dappertutto)\b",
    re.IGNORECASE,
)

_LETTING_FADE = re.compile(
    r"\b(?:un-?pin(?:ned)?|pin(?:ned)?|fades?|progress|context|temporary|for now"
    r"|anpinnen|abpinnen|angepinnt|fortschritt|kontext|vorläufig|vorübergehend"
    r"|d?[eé]s?pingle[rz]?|provisoire|temporaire|contexto?|provisional|temporal|contesto|provvisorio)\b",
    re.IGNORECASE,
)

_RESTORING = re.compile(
    r"\b(?:restore|bring (?:it |that |this )?back|put (?:it |that |this )?back|un-?archive|undelete|recover"
    r"|holds? again|wiederherstelle?n?|zurückhole?n?|hol|stelle?|restaure[rz]?|récupère[rz]?|ramène"
    r"|restaura|recupera|ripristina)\b",
    re.IGNORECASE,
)

_UNLINKING = re.compile(
    r"\b(?:un-?link|links?|edges?|contradicts?|contradiction|supersedes?|superseded|replaces?|replaced"
    r"|verknüpfung|widersprüche?n?|widerspricht|ersetzt|liens?|contredit|remplace|enlaces?|contradice"
    r"|reemplaza|collegamento|sostituisce)\b",
    re.IGNORECASE,
)


def says(turn: str, new: str, before: str, *, title: str = "") -> bool:
    """
    Tell whether *turn* says what *new* says and *before*, the person's words until now, does not.

    It must have each new telling word and number, those of the new *title* too, a negation if one is new,
    and most of the words that changed. If only the order changed, it must have most of all words.
    """
    whole = f"{title}\n{new}"
    spoken, old = Text(turn), Text(before)
    telling = [word for word in telling_words(whole) if not word.run and not word.stands_in(old)]
    if not all(word.stands_in(spoken) for word in telling):
        return False
    if not numbers_in(whole) - numbers_in(before) <= numbers_in(turn):
        return False
    if negates(whole) and not negates(before) and not negates(turn):
        return False
    new_roots, old_roots, spoken_terms = (
        frozenset(map(stem, content_words(text))) for text in (new, before, turn)
    )
    changed = new_roots - old_roots or old_roots - new_roots or new_roots
    return bool(changed) and len(changed & spoken_terms) / len(changed) >= SAID


def asks_to_forget(turn: str, memory_id: str, title: str) -> bool:
    """Tell whether *turn* asks to forget the memory: by its id, or by all telling words of its title."""
    return bool(_FORGETTING.search(turn)) and _names(turn, memory_id, title)


def asks_to_move(turn: str, memory_id: str, title: str) -> bool:
    """Tell whether *turn* asks for another level for the memory, which it names as for `asks_to_forget`."""
    return bool(_MOVING.search(turn)) and _names(turn, memory_id, title)


def asks_to_let_fade(turn: str, memory_id: str, title: str) -> bool:
    """Tell whether *turn* asks for no pin, or a type that fades, for the memory, named as for the others."""
    return bool(_LETTING_FADE.search(turn)) and _names(turn, memory_id, title)


def asks_to_restore(turn: str, memory_id: str, title: str) -> bool:
    """Tell whether *turn* asks to bring the memory back, named as for the others."""
    return bool(_RESTORING.search(turn)) and _names(turn, memory_id, title)


def asks_to_unlink(turn: str, memory_id: str, title: str) -> bool:
    """Tell whether *turn* speaks of a link of the memory, named as for the others, or to bring it back."""
    return bool(_UNLINKING.search(turn) or _RESTORING.search(turn)) and _names(turn, memory_id, title)


def _names(turn: str, memory_id: str, title: str) -> bool:
    title_words = content_words(title)
    return memory_id in folded(turn) or (bool(title_words) and title_words <= content_words(turn))
