"""
Secrets known by what is said around them: "log in as ada with ...", "the PIN is ...", a list of
backup codes, the words of a wallet.
"""

import re
from collections.abc import Iterator

from mcp_server.core.secrets.beginnings import matches
from mcp_server.core.secrets.shapes import pattern
from mcp_server.core.secrets.values import SecretSpan, is_certain, is_random, is_strict

_ENTRY = re.compile(
    r"log(?:ged)?[ -]?in\b|logs in\b|log on\b|sign(?:ed)?[ -]?in\b|unlock\b|authenticate\b|melde\b|anmelden\b"
    r"|einloggen\b"
    r"|logge\b|entsperr|connecte|connexion|inicia|conecta|accedi\b|acced|collega|aanmelden|inloggen|zaloguj"
    r"|войди|войти"
    r"|войдите|giriş|logg in\b|ログイン|登录|登錄|로그인"
)
_ENTRY_BEGINNINGS = tuple(
    "log sign unlock authenticate melde anmelden einloggen entsperr conne inicia conecta acced collega"
    " aanmelden inloggen zaloguj вой giriş ログイン 登录 登錄 로그인".split()
)
_ENTERED = (
    r"""(?xi)[^\n]{0,100}?(?:[ \t](?:with|using|by|mit|avec|con|com|met|med|hasłem|с|паролем|ile|and|und|/)"""
    r"""(?:[ \t](?:the|his|her|my|our|pass\w{0,6}|pw|dem|das|le|la|el|il|o)){0,3}"""
    r"""|(?<=\w)[ ]?/)[ \t]{1,2}["'`*]{0,2}(?P<secret>[^\s"'`,;<>(){}\[\]]{6,64})"""
)
_LABEL = re.compile(r"pins?\b|pincode|code|combination|phrase|mnemonic|seed\b|words\b|bip-?39")
_LOCKED = (  # what stands before "code" when it opens a door
    r"(?:\bpin|door|alarm|gate|access|entry|garage|safe|unlock|lock|keypad|building"
    r"|security|vault|tür)[ -]?\Z"
)
_RESCUE = (
    r"\b(?:backup|back-up|recovery|rescue|one-time|scratch|emergency|2fa|mfa|restore|wiederherstellungs|notfall)"
    r"(?:[ -]?(?:backup|recovery|access|login|account))?[ -]?\Z"
)
_OF_A_WALLET = r"(?:seed|recovery|backup|wallet|mnemonic|secret)[ -](?:recovery |seed )?\Z"
_CODE_IS = (
    r"""(?x)s?(?:[ ](?:code|number|pin))?(?:[ \t](?:for|of|to|on|für|von|pour|de|del|vom)"""
    r"""(?:[ \t][\w'’-]{1,30}){1,4}?)?[ \t]?"""
    r"""(?:[:=]|[ \t](?:is|was|ist|lautet|est|es|è|é|becomes|changed[ ]to|set[ ]to))[ \t]{1,2}["'`*]{0,2}"""
    r"""(?P<secret>[0-9]{4,8}(?:[ -][0-9]{2,4}){0,2})(?![\w.,:%°€$-]?[\w%])"""
)
_CODES_ARE = (
    r"""(?x)s?(?:[ \t](?:for|of|für)(?:[ \t][\w.-]{1,30}){1,3}?)?[ \t]?"""
    r"""(?:[:=]|[ \t](?:is|are|ist|sind|lautet))?\s{1,4}["'`*]{0,2}(?P<secret>"""
    r"""(?:(?:[-*][ ]|[0-9]{1,2}[.)][ ])?[A-Za-z0-9]{4,12}+"""
    r"""(?:-[A-Za-z0-9]{4,12}+){0,9}[,;]?(?:\s{1,4}|$)){1,24})"""
)
_ONE_CODE = r"(?=[A-Za-z-]*[0-9])[A-Za-z0-9-]{6,}|[A-Z0-9]{4,}(?:-[A-Z0-9]{4,})+"
_LABELLED = (
    r"""(?xs)[^\n.!?]{0,40}?(?:[:=]|\bis\b|\bare\b|\n)[\s"'`*]{0,8}(?P<secret>(?:[0-9]{1,2}[.):]?\s{0,2})?[a-z]{3,10}"""
    r"""(?:[\s,]{1,4}(?:[0-9]{1,2}[.):]?\s{0,2})?[a-z]{3,10}){11,32}+)(?![\w])"""
)
_RUN = r"(?<![\w-])[a-z]{3,8}(?:[ \n]{1,2}[a-z]{3,8}){11,23}+(?![\w-])(?! [a-z])"
_LENGTHS = (12, 15, 18, 21, 24)
_PROSE = frozenset(
    "the and for with that this from you your are was were has have not but can its will should which when "
    "they their into then than our his her she him how why what who all any out use used get".split()
)


def in_phrases(text: str, lowered: str) -> Iterator[SecretSpan]:
    """Yield the secrets that a sentence states; *lowered* is *text* in lower case."""
    entries = matches(_ENTRY, _ENTRY_BEGINNINGS, lowered)
    following = next(entries, None)
    while entry := following:
        following = next(entries, None)
        if entry.start() and lowered[entry.start() - 1].isalnum():
            continue
        end = min(entry.end() + 180, following.start() if following else len(text))
        match = pattern(_ENTERED).match(text, entry.end(), end)
        if match and (length := _entered(match["secret"])):
            yield match.start("secret"), match.start("secret") + length, "a password"
    for label in _LABEL.finditer(lowered):
        yield from _labelled(text, lowered, label)
    for run in pattern(_RUN).finditer(text) if _may_have_a_run(text) else ():
        words = run[0].split()
        if len(words) in _LENGTHS and _is_phrase(words) and _are_listed(words):
            yield *run.span(), "a recovery phrase"


def _labelled(text: str, lowered: str, label: re.Match[str]) -> Iterator[SecretSpan]:
    """Yield what follows "PIN", "door code", "backup codes" or "seed phrase"."""
    start, end, words = label.start(), label.end(), label[0]
    before = lowered[max(0, start - 40) : start]
    if words in ("phrase", "words") and not pattern(_OF_A_WALLET).search(before):
        return
    if words[0] in "pcs" and before[-1:].isalnum() and not before.endswith("tür"):
        return
    if words == "code":
        if pattern(_RESCUE).search(before) and (match := pattern(_CODES_ARE).match(text, end, end + 600)):
            yield from _codes(match)
        if not pattern(_LOCKED).search(before):
            return
    if words.startswith(("pin", "co")):
        match = pattern(_CODE_IS).match(text, end, end + 160)
        if match and len(set(match["secret"])) > 1:
            yield *match.span("secret"), "a PIN"
        return
    match = pattern(_LABELLED).match(text, end, end + 500)
    if match and _is_phrase(re.findall("[a-z]+", match["secret"])):
        yield *match.span("secret"), "a recovery phrase"


def _entered(value: str) -> int:
    """Return how many characters of *value* are a password and nothing else; 0 when it is none."""
    value = value.rstrip(".:!?") if is_strict(value.rstrip(".:!?")) else value.rstrip(".:")
    return len(value) if is_certain(value) else 0


def _codes(match: re.Match[str]) -> Iterator[SecretSpan]:
    """Yield the codes of a list, as far as they are codes."""
    for code in re.finditer(r"[A-Za-z0-9-]+", match["secret"]):
        if pattern(_ONE_CODE).fullmatch(code[0]) or ("-" in code[0] and is_random(code[0].replace("-", ""))):
            at = match.start("secret")
            yield at + code.start(), at + code.end(), "a recovery code"
        elif len(code[0]) > 2:
            return


def _is_phrase(words: list[str]) -> bool:
    return (
        len(set(words)) * 3 > len(words) * 2 and _PROSE.isdisjoint(words) and words[:12] != sorted(words[:12])
    )


def _may_have_a_run(text: str) -> bool:
    """Tell whether *text* may have a recovery phrase; the pattern needs ten times as long to say no."""
    if text.count(" ") + text.count("\n") < min(_LENGTHS) - 1:
        return False
    from mcp_server.core.secrets.mnemonic_words import BEGINNINGS  # few texts need it

    words = text.split()
    # The first and the last word may have signs beside them. One of each run of the others is looked at.
    least = min(_LENGTHS) - 2
    for at in range(least - 1, len(words), least):
        if words[at][:4] in BEGINNINGS:
            start, end = at, at + 1
            while start and words[start - 1][:4] in BEGINNINGS:
                start -= 1
            while end < len(words) and words[end][:4] in BEGINNINGS:
                end += 1
            if end - start >= least:
                return True
    return False


def _are_listed(words: list[str]) -> bool:
    from mcp_server.core.secrets.mnemonic_words import BEGINNINGS  # few texts need it

    return all(word[:4] in BEGINNINGS for word in words)
