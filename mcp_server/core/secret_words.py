"""
Secrets known by the word beside them: `password = ...`, `"api_key": "..."`, "the password is ...".

A word of `_WORD` is looked for in the lower-cased text; what stands before it decides whether it names
a secret, what follows it where the value is, and `secret_values` whether the value is one.
"""

import re
from collections.abc import Iterator

from mcp_server.core.secret_shapes import WINDOW, whole
from mcp_server.core.secret_values import has_symbols, is_key, is_password, is_random

_WORD = re.compile(
    r"pass(?:word|wd|phrase|code|wort)?|pwd|pw|kennwort|contraseña|senha"
    r"|secret(?:[_.-]?(?:access[_.-]?)?key)?|token|key|credentials?|creds|auth(?:orization)?|login"
)
_KEYS = ("secret", "token", "key", "cred", "auth")  # what is made by machines; the others are by people
_SHORT = frozenset({"pass", "pw", "pwd", "auth", "creds", "senha", "login"})  # parts of other words
# What stands before "key" when it opens something.
_OPENING = tuple(
    "api app application access account admin aes auth cipher client consumer crypt crypto deploy deployment enc "
    "encryption function hmac host ingest ingestion integration jwt licence license master private role "
    "security server service session shared signature signing ssh storage subscription webhook write".split()
)
# What stands before "token" when it is a piece of text or a place in a list.
_NO_SECRET_TOKEN = frozenset(
    "antiforgery begin bos cancel cancellation cls continuation count csrf current delta design end eos first id input "
    "key last lookahead mask max min n next num of output pad page per prev previous public reserved resume sep skip special "
    "start stop stream sync syntax total unk used verification xsrf".split()
)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LAST_WORD = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)[0-9]*\Z")

_END = (  # of the name; what else may belong to it is listed, so that `password_hash` and `token_url` do not
    r"(?i:[_-]?(?:value|val|string|str|text|plain|raw|b64|base64|prod|production|staging|stage|dev|development|live"
    r"|test|qa|uat|default|main|primary|secondary|new|old|current|[0-9]{1,3}))?(?![A-Za-z0-9_]|-[A-Za-z0-9])"
)
_QUOTE = r"""\\{0,3}["'`]"""
_VALUE = rf"""
    (?: [bBrRuUfFL@$]{{0,2}}(?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\n\\])){{1,2048}})(?P=quote)
      | [“‘«„](?P<curly>[^\n”’»“]{{1,200}})[”’»“]
      | (?:{_QUOTE})?(?P<bare>[^\s"'`<>,;(){{}}\[\]|\\]{{4,2048}})(?P<code>[(\[{{])?
    )"""
_ASSIGNED = re.compile(
    rf"""{_END}(?P<close>{_QUOTE})?\]?(?:\[[0-9]{{0,5}}\])?
    (?: [ \t]{{0,12}}(?::[ \t]{{0,3}}[A-Za-z][\w.<>\[\]|?]{{0,40}}[ \t]{{0,3}})?
        (?P<equals>={{1,3}}|!={{1,2}}|:=|=>|\?=|\|\|=|:{{1,2}}|->|→)(?:[ \t]{{0,12}}|\s{{0,40}}(?=["'`]))
      | \s{{1,4}}value[ \t]{{0,3}}=[ \t]{{0,3}} | ,?\s{{1,40}}["']?value["']?[ \t]{{0,3}}:[ \t]{{0,3}}
      | (?P<element>>)
      | (?P<argument>[ \t]?\([ \t]{{0,4}} | (?<=["'`]),[ \t]{{0,4}} | (?<=["'`]\]),[ \t]{{0,4}} )
      | (?P<column>[ \t]{{0,30}}\|[ \t]{{0,30}})
    ){_VALUE}""",
    re.VERBOSE,
)
_SAID = re.compile(
    rf"""{_END}["'`*_]{{0,3}}
    (?: (?:[ \t]{{1,3}}(?:for|of|to|on|at|in|there|here)(?:[ \t]{{1,3}}[\w@.'’/-]{{1,40}}){{0,4}}?)?
        [ \t]{{1,3}}(?P<verb>is|was|are|remains|ist|est|es|will[ ]be|should[ ]be|(?:is[ ])?set[ ]to|changed[ ]to|reset[ ]to
          |has[ ]been[ ](?:re)?set[ ]to|was[ ](?:re)?set[ ]to|(?P<vague>to|-|–|—))
        :?(?:[ \t]{{1,3}}(?:now|currently|still|just|simply))?[ \t]{{1,3}}
      | [ \t]{{1,4}} )
    [*_]{{0,2}}{_VALUE}""",
    re.VERBOSE,
)
_PAIR = re.compile(
    r"""s?\b(?:[ \t]+(?:is|are|with)\b|[ \t]*[:=])[ \t]*["'`*]{0,2}(?P<user>[\w.@+-]{2,64})["'`*]{0,2}
    [ \t]{0,2}[/:][ \t]{0,2}["'`*]{0,2}(?P<password>[^\s"'`*]{4,64})""",
    re.VERBOSE,
)
_SAID_BEFORE = re.compile(
    r"""(?:^|[\s"'`(])(?P<password>[^\s"'`(]{6,64})["'`]?\s(?:is|as|was)\s(?:the|my|our|your|his|her|their|a)?
    (?:\s?[\w-]{1,20}){0,2}\s?\Z""",
    re.VERBOSE,
)
_LOGIN_BEFORE = re.compile(r"\b(?:login|user|account)\s+(?!and\b|or\b|&)[^\s,]{1,64}\s+\Z")  # as in a .netrc
_ENDS_AN_OPTION = re.compile(r"""\s*(?:\Z|\n|\\|[ \t]-|["'`|;&>)])""")


def named(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of the secrets that a word names; *lowered* is *text* in lower case."""
    done = 0
    for word in _WORD.finditer(lowered):
        if word.start() < done:
            continue
        name = _name_before(text, word.start())
        if not _names_a_secret(text, word, name):
            continue
        span = (
            _pair(text, word)
            or _assigned(text, word, name)
            or _said(text, word, name)
            or _said_before(text, word)
        )
        if span:
            yield *span, _kind(word[0])
            done = span[1]


def _kind(word: str) -> str:
    if not word.startswith(_KEYS):
        return "a password"
    if word == "key":
        return "an API key"
    return "a token" if word == "token" else "a secret"


def _name_before(text: str, start: int) -> str:
    """Return the part of the name that stands before the word at *start*: 'client_' of `client_secret`."""
    before = text[max(0, start - 48) : start]
    return before[len(before.rstrip(_NAME_CHARACTERS)) :]


def _names_a_secret(text: str, word: re.Match[str], name: str) -> bool:
    start = word.start()
    if word[0] in _SHORT and name[-1:].isalpha() and not (text[start].isupper() and name[-1].islower()):
        return False
    if word[0] == "pass":
        return bool(name) or text[start] == "p"  # not the PASS of a test report
    if word[0] not in ("key", "token"):
        return True
    before = (name or text[max(0, start - 24) : start]).rstrip("_-. ")
    match = _LAST_WORD.search(before)
    last = match[0].lower() if match else ""
    return last.endswith(_OPENING) if word[0] == "key" else last not in _NO_SECRET_TOKEN


def _assigned(text: str, word: re.Match[str], name: str) -> tuple[int, int] | None:
    """Return where the value is that is assigned to the name, by whatever sign; None when it is no secret."""
    match = _ASSIGNED.match(text, word.end(), word.end() + WINDOW)
    if match is None or word[0] == "login" or (match["element"] and not text.startswith("</", match.end())):
        return None
    if match["bare"] and (match["argument"] or (match["equals"] or "=") not in ("=", ":", ":=", "=>", "?=")):
        return None
    # As in a .env file: capitals, no blanks, no quotes. There even a plain word is a value.
    variable = text[word.start() - len(name) : word.end()]
    is_variable = match["equals"] == "=" and variable.isupper() and text[match.end("equals")] not in " \t"
    is_sure = (bool(match["quoted"]) and not match["argument"]) or is_variable
    return _judged(
        text, match, word[0], plain_word=is_sure, strict=bool(match["argument"] or match["column"])
    )


def _said(text: str, word: re.Match[str], name: str) -> tuple[int, int] | None:
    """Return where the value is in "the password for staging is ...", `--password ...`, "password ..."."""
    if word[0] in ("pass", "auth", "login") and not name.startswith("-"):
        return None
    match = _SAID.match(text, word.end(), word.end() + WINDOW)
    if match is None:
        return None
    is_option = name.startswith("-") and not match["verb"]
    if is_option and match["bare"] and not _ENDS_AN_OPTION.match(text, match.end("bare")):
        return None
    is_sure = (
        is_option
        or (match["quoted"] or match["curly"]) is not None
        or _LOGIN_BEFORE.search(text, max(0, word.start() - 90), word.start()) is not None
    )
    if not match["verb"] and word[0] == "key" and not is_option and not name.lower().endswith("api"):
        return None
    strict = not is_sure and (not match["verb"] or match["vague"] is not None)
    return _judged(text, match, word[0], plain_word=is_sure, strict=strict)


def _said_before(text: str, word: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value is in "... is the password"."""
    if word[0].startswith(_KEYS) or word[0] in _SHORT:
        return None
    match = _SAID_BEFORE.search(text, max(0, word.start() - 120), word.start())
    if match and is_password(match["password"], plain_word=False) and _is_strict(match["password"]):
        return match.span("password")
    return None


def _pair(text: str, word: re.Match[str]) -> tuple[int, int] | None:
    """Return where the password is in "credentials: admin / ..."."""
    if word[0] not in ("credential", "credentials", "creds", "login"):
        return None
    match = _PAIR.match(text, word.end(), word.end() + 300)
    if match and is_password(match["password"], plain_word=False) and match["password"] != match["user"]:
        return match.span("password")
    return None


def _judged(
    text: str, match: re.Match[str], word: str, *, plain_word: bool, strict: bool
) -> tuple[int, int] | None:
    """Return the place of the value in *match* when it is a secret; *strict* asks that it looks like nothing else."""
    group = next(name for name in ("quoted", "curly", "bare") if match[name])
    start, end = match.span(group)
    if group == "bare":
        if match["code"]:
            return None
        if match["bare"].endswith(("...", "…")):
            return None
        end = whole(text, end, match.endpos)
        end = start + len(re.split(r"&[\w.-]{1,40}=", text[start:end], maxsplit=1)[0].rstrip(".,:;?*"))
    value = text[start:end]
    is_secret = is_key(value) if word.startswith(_KEYS) else is_password(value, plain_word=plain_word)
    return (start, end) if is_secret and (_is_strict(value) or not strict) else None


def _is_strict(value: str) -> bool:
    return is_random(value) or has_symbols(value)
