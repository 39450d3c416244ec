"""
Words as the lexical index sees them.

SQLite's `porter unicode61` tokenizer splits on everything that is not a letter or digit and stems.
What it cannot split, identifiers in camelCase and runs of Chinese, Japanese or Korean characters,
is split here in the same way for the index and for the query. What it tells apart though
people do not is made equal: half and full width, "ß" and "ss", an accent on a Greek letter, the dots of "ё".
And it drops the signs that alone tell C, C#, C++ and F# apart: those get a word of their own.
"""

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence

from mcp_server.core.text import languages
from mcp_server.core.text.languages import FUNCTION_SETS, languages_of, stems, stems_of_term

STOP_WORDS = FUNCTION_SETS["en"]

_WORD = re.compile(r"\w+")
_UNPLAIN = re.compile(r"\b[A-Za-z]?[a-z]*+[^\Wa-z]\w*")  # a word like most, "Like" or "this", has no parts
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CAMEL_HUMP = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d|\d[A-Za-z]")
_SHAPE = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", b"a" * 26 + b"A" * 26 + b"0" * 10
)
_WORDS_ALONE = bytes(
    ord(chr(code).lower()) if code < 128 and re.match(r"\w", chr(code)) else 32 for code in range(256)
)
_HUMPS = (
    b"aA",
    b"AAa",
    b"0A",
    b"a0",
    b"A0",
    b"0a",
)  # where a hump begins, in a text of which `_SHAPE` kept only the kinds of letters
_CJK_CLASS = r"\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
# Slow to compile, which `re` does when they are first searched for: a text in ASCII never needs them.
_CJK = f"[{_CJK_CLASS}]+"
_RUNS = f"[{_CJK_CLASS}]+|[^{_CJK_CLASS}]+"
_IDEOGRAPH = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_MARKS = re.compile(r"[\u0300-\u0305\u0307-\u036f]")  # without the breve, which makes "й" of "и"
_SIGNED = re.compile(  # a letter with the signs behind it, "C" without any, ".NET", and "Node.js"
    r"(?<![^\W_])(?:(?P<letter>[a-z])(?P<sign>\+\+(?![+#])|#(?![\w+#]))|(?P<plain>c)(?![^\W_]|\+\+|#(?!\w)))"
    r"|(?P<net>(?<!\w)\.net\b)|\b(?P<stem>[a-z]\w{0,40})\.(?P<suffix>js|net)\b",
    re.IGNORECASE,
)
_SIGN_KINDS = bytes(  # "c" and "j" for those letters of `_SIGN`, "a" for others and digits
    code if code in b"#+." else 32 if code > 127 or not chr(code).isalnum()
    else b"c"[0] if code in b"cC" else b"j"[0] if code in b"jJnN" else b"a"[0]
    for code in range(256)
)  # fmt: skip
# What every such name has, by letters that are quick to look for: most prose has none.
_SIGN = re.compile(r"c(?<![^\W_].)(?![^\W_])|C(?<![^\W_].)(?![^\W_])|#(?<=\w.)|\+(?<=\w.)|\.[jJnN]")
_PLAIN_C = "clanguage"  # no word of a person's
_FOLDED_BY_SQLITE = "\u0180"  # its tokenizer drops the marks of all letters before this one
MAX_QUERY_TERMS = 48
TELLS_LANGUAGE = 1000  # first characters of a text, by which its language is guessed


def words(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores in *text*, case folded."""
    return _ascii_words(text) if text.isascii() else [word.casefold() for word in _WORD.findall(text)]


def folded(word: str) -> str:
    """Return the one form of *word* in which its spellings are equal: no width, case or accents."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", word).casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


def folded_words(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores in *text*, folded, in order."""
    return _ascii_words(text) if text.isascii() else [*map(folded, _WORD.findall(text))]


def _ascii_words(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores, in lower case, in a tenth of the time."""
    return text.encode().translate(_WORDS_ALONE).decode().split()


def identifier_parts(text: str) -> list[str]:
    """
    Return the parts of identifiers and the character pairs of CJK runs in *text*, in lower case.

    `getUserById` gives get, user, by, id; snake_case needs nothing: the tokenizer splits at `_`.
    """
    if text.isascii():
        shape = text.encode().translate(_SHAPE)
        if not _has_hump(shape):
            return []  # most prose, in a third of the time
    parts: list[str] = []
    for word in _UNPLAIN.findall(text):
        parts += _humps(word) if word.isascii() else _foreign_parts(word)
    return parts


def _has_hump(shape: bytes) -> bool:
    # The first two have no digit.
    for hump in _HUMPS if b"0" in shape else _HUMPS[:2]:  # noqa: SIM110 (an iterator for any takes longer)
        if hump in shape:
            return True
    return False


def index_parts(text: str) -> list[str]:
    """
    Return what is indexed of *text* in addition to its words.

    That is its parts, names with signs, each ideograph, and stems of a language that SQLite does not know.
    """
    parts = identifier_parts(text)
    if _may_have_sign(text) and _SIGN.search(text):
        parts += filter(None, map(_name_of, _SIGNED.finditer(text)))
    if not text.isascii():
        parts += re.findall(_IDEOGRAPH, text)
    written_in = languages_of(*_beginning(text))
    return [*parts, *stems(folded_words(text), written_in)] if written_in else parts


def _may_have_sign(text: str) -> bool:
    """Tell whether *text* may have what `_SIGN` finds, in a fifth of its time where it is in ASCII."""
    if not text.isascii():
        return True
    kinds = text.encode().translate(_SIGN_KINDS)
    if b".j" in kinds or b"#" in kinds or b"+" in kinds:
        return True
    return b" c " in b" %b " % kinds.replace(b".", b" ")


def is_foreign(text: str) -> bool:
    """Tell whether *text* is not in English, as far as its beginning tells."""
    return languages.is_foreign(*_beginning(text))


def _beginning(text: str) -> tuple[str, frozenset[str]]:
    """Return as much of *text* as tells its language, and the words of that."""
    beginning = text[:TELLS_LANGUAGE]
    return beginning, frozenset(folded_words(beginning))


def spelled(text: str) -> str:
    """Return *text* with a word for each name that only signs tell from others: "C#" → "csharp"."""
    if not _SIGN.search(text):
        return text
    return _SIGNED.sub(lambda match: match[0] if match["stem"] else f" {_name_of(match)} ", text)


def _name_of(match: re.Match[str]) -> str:
    """Return the word by which a name with signs is found; people write some of them so."""
    if match["letter"]:
        return match["letter"].lower() + ("sharp" if match["sign"] == "#" else "pp")
    if match["stem"]:
        whole = f"{match['stem']}{match['suffix']}".lower()
        return f"{whole} dotnet" if whole.endswith("net") else whole
    return "dotnet" if match["net"] else _PLAIN_C


def _humps(word: str) -> list[str]:
    parts: list[str] = []
    if _CAMEL_HUMP.search(word):
        for piece in word.split("_"):
            humps = _CAMEL.findall(piece)
            if len(humps) > 1:
                parts += [hump.lower() for hump in humps]
    return parts


def _foreign_parts(word: str) -> list[str]:
    """Return the parts of a word that SQLite would not find: pairs of ideographs, plain letters."""
    plain = unicodedata.normalize("NFKC", word)
    if not re.search(_CJK, plain):
        form = folded(plain)
        folded_by_sqlite = plain == word and max(word) < _FOLDED_BY_SQLITE and len(form) == len(word)
        return [] if folded_by_sqlite or form == word.lower() else [form]
    parts = []
    for run in re.findall(_RUNS, plain):
        if re.match(_CJK, run):
            parts += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        elif run.strip("_"):  # 用户session存在: no space stands around it
            parts += [folded(run), *(_humps(run) if run.isascii() else [])]
    return parts


def query_terms(text: str) -> list[str]:
    """
    Return the terms to look for, each once, in order; at most 48.

    Stop words are left out unless nothing else would remain.
    """
    text = spelled(text)
    # A run of CJK characters is found by its parts: as one word hardly any text has it.
    spoken = [
        word
        for word in _WORD.findall(text)
        if word.isascii() or not re.search(_CJK, unicodedata.normalize("NFKC", word))
    ]
    distinct = dict.fromkeys(map(folded, spoken))
    asked_in = languages_of(text, distinct.keys())
    empty = STOP_WORDS.union(*(FUNCTION_SETS[language] for language in asked_in))
    telling = [word for word in distinct if word not in empty and word.strip("_")]
    terms = telling or [word for word in distinct if word.strip("_")]
    parts = [part for part in identifier_parts(text) if part not in STOP_WORDS]
    return list(dict.fromkeys([*terms, *parts]))[:MAX_QUERY_TERMS]


def match_expression(terms: Iterable[str]) -> str:
    """Return an FTS5 MATCH expression for any of *terms*; '' when there is none."""
    return " OR ".join(_quoted(term) for term in terms)


def near_expression(first: Collection[str], second: Collection[str], between: int) -> str:
    """
    Return an FTS5 MATCH expression for a word of each, with at most *between* words between them.

    A word that both have is two in one.
    """
    pairs = [(word, other) for word in first if word not in second for other in second if other not in first]
    shared = [_quoted(word) for word in first if word in second]
    return " OR ".join([*shared, *(f"NEAR({_quoted(a)} {_quoted(b)}, {between})" for a, b in pairs)])


def content_words(text: str) -> frozenset[str]:
    """Return the words of *text* that carry meaning: no stop words, numbers kept."""
    return frozenset(word for word in words(text) if word not in STOP_WORDS)


def telling(text: str) -> frozenset[str]:
    """Return the words and parts of names by which two texts may be found to be about the same thing."""
    return frozenset(query_terms(text)) - STOP_WORDS


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


# Forms that no rule of the stemmer knows, looked up with the question, so that the index stays as it is:
# "went" for "go", "database" for "data base". Verbs are worth .006 of nDCG@10 on single turns of chats,
# compounds .004 on whole chats.
_IRREGULAR = """
    become became, begin began begun, bite bit bitten, blow blew blown, break broke broken,
    bring brought, build built, buy bought, catch caught, choose chose chosen, come came, deal dealt,
    dig dug, draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, eat ate eaten,
    fall fell fallen, feed fed, feel felt, fight fought, find found, fly flew flown,
    forget forgot forgotten, freeze froze frozen, give gave given, go goes went gone, grow grew grown,
    hang hung, hear heard, hide hid hidden, hold held, keep kept, know knew known, lead led,
    learn learnt, leave left, lose lost, make made, mean meant, meet met, override overrode overridden,
    pay paid, rewrite rewrote rewritten, ride rode ridden, ring rang rung, rise rose risen, run ran,
    say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken, shine shone,
    shoot shot, show shown, sing sang sung, sink sank sunk, sit sat, sleep slept, speak spoke spoken,
    spend spent, spin spun, stand stood, steal stole stolen, stick stuck, strike struck, sweep swept,
    swim swam swum, swing swung, take took taken, teach taught, tear tore torn, tell told, think thought,
    throw threw thrown, understand understood, undo undid undone, wake woke woken, wear wore worn,
    win won, write wrote written
"""


def _of_verbs() -> dict[str, tuple[str, ...]]:
    """Return each form of an irregular verb → those that are not stemmed to the same."""
    by_form: dict[str, tuple[str, ...]] = {}
    for verb in _IRREGULAR.split(","):
        base, *others = forms = verb.split()
        by_form |= {form: tuple(other for other in forms if other != form) for form in forms}
        by_form |= dict.fromkeys(_regular(base), tuple(others))
    return by_form


def _regular(base: str) -> Iterator[str]:
    """Yield what stemming makes *base* of: "writes", "writing", "running"."""
    yield base + ("es" if base.endswith("ch") else "s")
    yield (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"
    yield base + base[-1] + "ing"


_VERBS = _of_verbs()


def word_forms(terms: Sequence[str], languages: Collection[str] = ()) -> dict[str, list[str]]:
    """
    Return each of *terms* → the words that count as it: itself, irregular forms, stems, then compounds.

    *languages* are those of `languages.STEMMED` that memories are written in.
    A compound is two neighbouring terms written as one word, and counts as either.
    """
    forms = {term: [term, *_VERBS.get(term, ()), *stems_of_term(term, languages)] for term in terms}
    for first, second in itertools.pairwise(forms):
        for term in (first, second):
            forms[term].append(first + second)
    return forms
