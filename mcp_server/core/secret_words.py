"""
Secrets known by the word beside them: `password = ...`, `"api_key": "..."`, "the password is ...".

A word of `_WORD` is looked for in the lower-cased text; what stands before it decides whether it names
a secret, what follows it where the value is, and `secret_values` whether the value is one.
"""

import re
from collections.abc import Iterator

from mcp_server.core.secret_shapes import WINDOW, pattern, whole
from mcp_server.core.secret_values import has_symbols, is_key, is_password, is_random

_WORD = re.compile(
    r"pass(?:word|wd|phrase|code|wort)?|pwd|pw|psk|kennwort|contraseña|senha"
    r"|secret(?:[_.-]?(?:access[_.-]?)?key)?|token|key|credentials?|creds|auth(?:orization)?|login"
)
_KEYS = ("secret", "token", "key", "cred", "auth")  # what is made by machines; the others are by people
_SHORT = frozenset({"pass", "pw", "pwd", "psk", "auth", "creds", "senha", "login"})  # parts of other words
# What stands before "key" when it opens something.
_OPENING = tuple(
    "access account admin aes api app application auth cipher client consumer crypt crypto deploy "
    "deployment enc encryption function hmac host ingest ingestion integration jwt licence license master "
    "private role secret security server service session shared signature signing ssh storage "
    "subscription webhook write".split()
)
# What stands before "token" when it is a piece of text or a place in a list.
_NO_SECRET_TOKEN = frozenset(
    "antiforgery begin bos cancel cancellation change cls continuation count csrf current delta design "
    "end eos first id idempotency input key last lock lookahead mask max min n next num of output pad "
    "page per prev previous public reserved resume sep skip special start stop stream sync syntax total "
    "unk used verification xsrf".split()
)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LAST_WORD = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)[0-9]*\Z")

_END = (  # of the name; what else may belong to it is listed, so that `password_hash` and `token_url` do not
    r"(?i:[_-]?(?:value|val|string|str|text|plain|raw|b64|base64|prod|production|staging|stage|dev|development|live"
    r"|test|qa|uat|default|main|primary|secondary|new|old|current|[0-9]{1,3}))?(?![A-Za-z0-9_]|-[A-Za-z0-9])"
)
_QUOTE = r"""\\{0,3}["'`]"""
_VALUE = rf"""
    (?: [bBrRuUfFL@$]{{0,2}}
        (?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\n\\])){{1,2048}})(?P=quote)
      | [“‘«„](?P<curly>[^\n”’»“]{{1,200}})[”’»“]
      | (?:{_QUOTE})?(?P<bare>[^\s"'`<>,;(){{}}\[\]|\\]{{4,128}})(?P<code>[(\[{{])?
    )"""
_ASSIGNED = rf"""(?x){_END}(?P<close>{_QUOTE}|\*{{2}})?\]?(?:\[[0-9]{{0,5}}\])?
    (?: [ \t]{{0,12}}
        (?::[ \t]{{0,3}}[A-Za-z][\w.<>\[\]|?]{{0,40}}[ \t]{{0,3}}(?==[ \t]{{0,3}}[@bru]?["'`]))?  # a type
        (?P<equals>={{1,3}}|!={{1,2}}|:=|=>|\?=|\|\|=|:{{1,2}}|->|→)(?:[ \t]{{0,12}}|\s{{0,40}}(?=["'`]))
      | \s{{1,40}}value[ \t]{{0,3}}=[ \t]{{0,3}} | ,?\s{{1,40}}["']?value["']?[ \t]{{0,3}}:[ \t]{{0,3}}
      | (?P<element>>)
      | (?P<argument>[ \t]?\([ \t]{{0,4}} | (?<=["'`]),[ \t]{{0,4}} | (?<=["'`]\]),[ \t]{{0,4}} )
      | (?P<column>[ \t]{{0,30}}\|[ \t]{{0,30}})
    ){_VALUE}"""
_SAID = rf"""(?x){_END}["'`*_]{{0,3}}
    (?: (?:[ \t]{{1,3}}(?:for|of|to|on|at|in|there|here)(?:[ \t]{{1,3}}[\w@.'’/-]{{1,40}}){{0,4}}?)?
        [ \t]{{1,3}}
        (?P<verb>(?:(?:is|was|be|been|got)[ ])?(?:re)?(?:set|changed)[ ]to|(?:will|should|must)[ ]be
          |is|was|are|remains|ist|est|es|(?P<vague>to|-|–|—))
        :?(?:[ \t]{{1,3}}(?:now|currently|still|just|simply))?[ \t]{{1,3}}
      | [ \t]{{1,4}} )
    [*_]{{0,2}}{_VALUE}"""
_PAIR = r"""(?x)
    s?\b(?:[ \t]+(?:is|are|with)\b|[ \t]*[:=])[ \t]+["'`*]{0,2}(?P<user>[\w.@+-]{2,64})["'`*]{0,2}
    [ \t]{0,2}[/:][ \t]{0,2}["'`*]{0,2}(?P<password>[^\s"'`]{4,64})"""
_SAID_BEFORE = r"""(?x)
    (?:^|[\s"'`(])(?P<password>[^\s"'`(]{6,64})["'`]?
    \s(?:is|as|was)\s(?:the|my|our|your|his|her|their|a)?
    (?:\s?[\w-]{1,20}){0,2}\s?\Z"""
_LOGIN_BEFORE = r"\b(?:login|user|account)\s+(?!and\b|or\b|&)[^\s,]{1,64}\s+\Z"  # as in a .netrc
_ENDS_AN_OPTION = r"""\s*(?:\Z|\n|\\|[ \t]-|["'`|;&>)])"""
_ENOUGH = 128  # characters of a value by which it is judged, and that `bare` takes
_NEXT_FIELD = r"&[\w.-]{1,40}="


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
    match = pattern(_ASSIGNED).match(text, word.end(), word.end() + WINDOW)
    if match is None or word[0] == "login" or (match["element"] and not text.startswith("</", match.end())):
        return None
    if match["bare"] and (match["argument"] or (match["equals"] or "=") not in ("=", ":", ":=", "=>", "?=")):
        return None
    at = word.start() - len(name)
    if match["close"] and text.endswith("::", 0, at):
        return None  # a type: "AWS::IAM::AccessKey"
    # As in a .env file: capitals, no blanks, no quotes. There even a plain word is a value.
    variable = text[at : word.end()]
    is_variable = match["equals"] == "=" and variable.isupper() and text[match.end("equals")] not in " \t"
    is_constant = variable.isupper() and "_" in variable
    is_sure = (bool(match["quoted"]) and not match["argument"]) or is_variable
    strict = bool(match["argument"] or match["column"]) and not is_constant
    return _judged(text, match, word[0], plain_word=is_sure, strict=strict)


def _said(text: str, word: re.Match[str], name: str) -> tuple[int, int] | None:
    """Return where the value is in "the password for staging is ...", `--password ...`, "password ..."."""
    if word[0] in ("pass", "auth", "login") and not name.startswith("-"):
        return None
    match = pattern(_SAID).match(text, word.end(), word.end() + WINDOW)
    if match is None:
        return None
    is_option = name.startswith("-") and not match["verb"]
    if is_option and match["bare"] and not pattern(_ENDS_AN_OPTION).match(text, match.end("bare")):
        return None
    is_sure = (
        is_option
        or (match["quoted"] or match["curly"]) is not None
        or pattern(_LOGIN_BEFORE).search(text, max(0, word.start() - 90), word.start()) is not None
    )
    if not match["verb"] and word[0] == "key" and not is_option and not name.lower().endswith("api"):
        return None
    strict = not is_sure and (not match["verb"] or match["vague"] is not None)
    return _judged(text, match, word[0], plain_word=is_sure, strict=strict)


def _said_before(text: str, word: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value is in "... is the password"."""
    if word[0].startswith(_KEYS) or word[0] in _SHORT:
        return None
    match = pattern(_SAID_BEFORE).search(text, max(0, word.start() - 120), word.start())
    if match and is_password(match["password"], plain_word=False) and _is_strict(match["password"]):
        return match.span("password")
    return None


def _pair(text: str, word: re.Match[str]) -> tuple[int, int] | None:
    """Return where the password is in "credentials: admin / ..."."""
    if word[0] not in ("credential", "credentials", "creds", "login"):
        return None
    match = pattern(_PAIR).match(text, word.end(), word.end() + 300)
    if match and is_password(match["password"], plain_word=False) and match["password"] != match["user"]:
        return match.span("password")
    return None


def _judged(
    text: str, match: re.Match[str], word: str, *, plain_word: bool, strict: bool
) -> tuple[int, int] | None:
    """Return the place of the value in *match* when it is a secret; *strict*: and like nothing else."""
    group = next(name for name in ("quoted", "curly", "bare") if match[name])
    start, end = match.span(group)
    read_to = end
    if group == "bare":
        if match["code"] or match["bare"].endswith(("...", "…")):
            return None
        end = start + len(pattern(_NEXT_FIELD).split(match["bare"], maxsplit=1)[0].rstrip(".,:;?*"))
    while end - start > 2 and text[start] == text[end - 1] and text[start] in "\"'`":
        start, end = start + 1, end - 1
    value = text[start : min(end, start + _ENOUGH)]
    is_secret = is_key(value) if word.startswith(_KEYS) else is_password(value, plain_word=plain_word)
    if not is_secret or (strict and not _is_strict(value)):
        return None
    return start, whole(text, end, start + _ENOUGH) if end == read_to else end


def _is_strict(value: str) -> bool:
    return is_random(value) or has_symbols(value)
