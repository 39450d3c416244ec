"""
Secrets known by the word next to them: `password = ...`, `"api_key": "..."`, "the password is ...".

A word of `names.py` is looked for in the lower-cased text. The text before it decides whether it names a
secret, the text after it where the value is, and `values.py` whether the value is one.
"""

import re
from collections.abc import Iterator

from mcp_server.core.secrets.beginnings import matches
from mcp_server.core.secrets.names import (
    ENDING,
    MADE,
    PAIRS,
    SHORT,
    WORD,
    WORD_BEGINNINGS,
    kind_of,
    name_before,
    names_a_secret,
)
from mcp_server.core.secrets.shapes import WINDOW, pattern, whole
from mcp_server.core.secrets.values import is_certain, is_key, is_pass_phrase, is_password, is_strict

_END = (  # of the name; what else may belong to it is listed, so that `password_hash` and `token_url` do not
    rf"(?:(?<=KEY)S|(?<=TOKEN)S|{ENDING})(?i:[_-]?(?:value|val|string|str|text|plain|raw|private|b64|base64|base|data|prod"
    r"|production|staging|stage|dev|development|live|test|qa|uat|default|main|primary|secondary|new|old|current|[0-9]{1,3}))?"
    r"(?![A-Za-z0-9_]|-[A-Za-z0-9])"
)
_QUOTE = r"""\\{0,3}["'`]"""
_BARE = r"""[^\s"'`<>,;(){}\[\]|\\]"""
_ENTITY = "(?:(?<=&amp)|(?<=&lt)|(?<=&gt)|(?<=&quot)|(?<=&apos))"
_VALUE = rf"""
    (?: [bBrRuUfFL@$]{{0,2}}
        (?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\n\\])){{1,512}}+)(?P=quote)
      | [“‘«„「](?P<curly>[^\n”’»“」]{{1,200}}+)[”’»“」]
      | (?:{_QUOTE})?
        (?P<bare>{_BARE}{{4,128}}(?:(?:(?<=\w)\|(?=\w)|{_ENTITY};){_BARE}{{1,128}}){{0,3}})(?P<code>[(\[{{])?
    )"""
_ESCAPED = "%(?:25)?3[dD]|%(?:25)?22%(?:25)?3[aA](?:%(?:25)?20)?%(?:25)?22"  # in an address: = and ":"
_FIELD = "(?:[tT]ype|[dD]escription|sensitive|nullable|NoEcho|M(?:in|ax)Length|secret|required)"
_ASSIGNED = rf"""(?x){_END}(?P<close>{_QUOTE}|\*{{2}})?\]?(?:\[[0-9]{{0,5}}\])?
    (?: (?:</[a-z]{{1,6}}>)?[ \t]{{0,12}}
        (?::[ \t]{{0,3}}&?[A-Za-z][\w.<>\[\]|?]{{0,40}}[ \t]{{0,3}}(?==[ \t]{{0,3}}[@bru]?["'`]))?  # a type
        (?P<equals>{_ESCAPED}|={{1,3}}|!={{1,2}}|:=|=>|\?=|\|\|=|:{{1,2}}|->|→|\uff1a)
        (?:\*{{2}}|__|</[a-z]{{1,6}}>)?(?:[ \t]{{0,12}}|\s{{0,40}}(?=["'`])
          |[ \t]{{0,3}}[|>][-+0-9]{{0,2}}[ \t]{{0,3}}\n[ ]{{1,20}})  # a block of YAML
        (?:<(?:code|kbd|tt|pre|b|strong|em|i)>)?
      | [,:]?(?:[ \t]{{0,3}}\{{)?(?:\s{{1,40}}["']?{_FIELD}["']?[ \t]{{0,3}}[=:][^\n,]{{0,120}},?){{0,5}}
        \s{{1,40}}["']?(?:value|[dD]efault)["']?[ \t]{{0,3}}[=:][ \t]{{0,3}}
      | (?P<element>(?:[ ][\w:]{{1,30}}="[^"\n]{{0,60}}"){{0,3}}>(?:\s{{0,20}}<[vV]alue>)?
          |</key>\s{{0,20}}<string>)
      | (?P<argument>[ \t]?\([ \t]{{0,4}} | (?<=["'`]),[ \t]{{0,4}} | (?<=["'`]\]),[ \t]{{0,4}} )
      | (?P<column>[ \t]{{0,30}}\|[ \t]{{0,30}})
    ){_VALUE}"""
_OF = "for|of|to|on|at|in|there|here|für|von|vom|zum|zur|auf|im|bei|pour|de|du|des|d[eo]s?|d[aei]l(?:la)?|sur"
_OF += "|para|d[ao]|voor|van|op|do|dla|для|от|к|до|till|til|pro|için"
_IS = "is|was|are|remains|ist|war|lautet|lauten|est|es|é|è|sono|são|jest|brzmi|to|är|er|je|on|este"
_IS += "|είναι|là|adalah|היא|הוא|है|هي|هو|это|becomes"
_SAID = rf"""(?x){_END}["'`*_]{{0,3}}
    (?: (?P<fill>(?![ \t]{{1,3}}(?:ids?|names?|files?|path|types?|fingerprint|hash)\b)
            (?:[ \t]{{1,3}}(?P<of>{_OF})(?![\w]))?(?:[ \t]{{1,3}}[\w@.'’/%-]{{1,40}}+){{0,6}}?)
        (?: [ \t]{{1,3}}
            (?P<verb>(?:(?:is|was|be|been|got)[ ])?(?:re)?(?:set|changed)[ ]to|(?:will|should|must)[ ]be
              |(?P<vague>to|-|–|—|auf|en|op|na|till|til|на|as|into)(?=[ \t])|(?:{_IS})(?!\w))
            :?(?:[ \t]{{1,3}}(?:now|currently|still|just|simply|jetzt|nun|maintenant|ahora))?[ \t]{{1,3}}
          | (?P<possessive>['’]s)[ \t]{{1,3}}
          | (?P<colon>[ \t]?(?::(?=[ \t])|\uff1a)|[ \t]=(?=[ \t]))[ \t]{{0,3}}
          | (?P<particle>(?:[はがを은는이가]|是|为|為|就是)[:\uff1a]?)[ \t]{{0,3}})
      | [ \t]{{1,4}} )
    [*_]{{0,2}}{_VALUE}"""
_PAIR = r"""(?x)
    s?\b(?:[ \t]+(?:for|of|für|pour|para)(?:[ \t]+[\w.-]{1,30}){1,3}?)?
    (?:[ \t]+(?:is|are|with|sind|sont|son)\b|[ \t]{0,3}[:=])[ \t]+["'`*]{0,2}
    (?P<user>[\w.@+-]{2,64})["'`*]{0,2}
    [ \t]{0,2}[/:][ \t]{0,2}["'`*]{0,2}(?P<password>[^\s"'`]{4,64})"""
_SAID_BEFORE = r"""(?x)
    (?:^|[\s"'`(])(?P<password>[^\s"'`(]{6,64})["'`]?
    \s(?:is|as|was)\s(?:the|my|our|your|his|her|their|a)?
    (?:\s?[\w-]{1,20}){0,2}\s?\Z"""
_BELOW = r"""(?x)
    s?(?:(?:[ \t][\w.'’-]{1,30}){0,6}[ \t]?(?P<colon>[:\uff1a]))?[*_]{0,2}[ \t]{0,3}\r?\n(?:[ \t]{0,8}\r?\n)?
    (?:[ \t]{0,8}(?:`{3}|~{3})\w{0,12}\r?\n)?
    [ \t]{0,8}(?:[->*][ \t])?`?(?P<value>[^\s"'`<>(){}]{8,1024})`?[ \t]{0,3}(?=\r?\n|\Z)"""
_ALONE = r"[ \t>#*_-]{0,8}(?:[\w-]{1,20}[ ])?"  # before a name that is a heading or a label
_KEY_ALONE = r"(?![0-9a-f]+\Z)[\w+=-]{16,}"  # below it: no commit, path or package
_OTHER_ALONE = r"(?!(?:[A-Z][a-z]+){2,}#)[^/]+"  # no method, no path
_LOGIN_BEFORE = r"\b(?:login|user|account)\s+(?!and\b|or\b|&)[^\s,]{1,64}\s+\Z"  # as in a .netrc
_ENDS_AN_OPTION = r"""\s*(?:\Z|\n|\\|[ \t]-|["'`|;&>)])"""
_SHORT_HEX = r"[0-9a-f]{4,16}[.,:;]?"
_ENOUGH = 128  # characters of a value by which it is judged, and that `bare` takes
_IS_GIVEN = r"""[=:][^\s"'=:&]"""
_OTHER_SCRIPT = r"[\u2e80-\uffff]"  # no blank stands before the verb of a Japanese sentence
_ANOTHER = r""",(?P<value>[^\s,"'`;]{16,128})(?=[\s,"'`]|\Z)"""
_NEXT_FIELD = r"&[\w.-]{1,40}="
_NEXT_ESCAPED = r"%(?:25)?(?:0[aAdD]|2[026cC]|3[bB])"
_BEFORE_BARE = rf"=|:|\uff1a|:=|=>|\?=|{_ESCAPED}"
_ESCAPED_BRACKET = "%(?:25)?(?:7[bB]|3[cC]|24)"
_VALUE_BEFORE = r"""(?x)
    "[vV]alue"\s{0,3}:\s{0,3}"(?P<value>(?:\\.|[^"\\\n]){4,128})"\s{0,3},\s{0,40}
    (?:"[\w-]{1,40}"\s{0,3}:\s{0,3}(?:"[^"\n]{0,80}"|[\w.]{1,20})\s{0,3},\s{0,40}){0,3}
    "(?:[nN]ame|[kK]ey|id)"\s{0,3}:\s{0,3}"\Z"""


def named(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of the secrets that a word names; *lowered* is *text* in lower case."""
    read_to = 0
    words = [*matches(WORD, WORD_BEGINNINGS, lowered), None, None]
    for word, following, third in zip(words, words[1:], words[2:], strict=False):
        if word is None or word.start() < read_to or _is_followed_by_names(lowered, word, following, third):
            continue
        name = name_before(text, word.start())
        if not names_a_secret(text, word, name):
            continue
        span = (
            _pair(text, word)
            or _assigned(text, word, name, following)
            or _said(text, word, name, following)
            or _said_before(text, word)
            or _value_before(text, word, name)
            or _below(text, word)
        )
        if span:
            yield *span, kind_of(word[0])
            read_to = span[1]


def _is_followed_by_names(
    lowered: str, word: re.Match[str], following: re.Match[str] | None, third: re.Match[str] | None
) -> bool:
    """Whether more names stand where the value would, as in `token=key=...` and "pass pass pass"."""
    if following is None or following.start() - word.end() > 2:
        return False
    if lowered[word.end()] in "=:" and lowered.startswith(("=", ":"), following.end()):
        return True
    return third is not None and third.start() - following.end() <= 2


def _assigned(
    text: str, word: re.Match[str], name: str, following: re.Match[str] | None
) -> tuple[int, int] | None:
    """Return where the value is that is assigned to the name, by whatever sign; None when it is no secret."""
    match = pattern(_ASSIGNED).match(text, word.end(), word.end() + WINDOW)
    if match is None or (match["element"] and not text.startswith("</", match.end())):
        return None
    is_arrow = match["equals"] in ("->", "→")
    if match["bare"] and (
        match["argument"]
        or (pattern(_BEFORE_BARE).fullmatch(match["equals"] or "=") is None and not is_arrow)
    ):
        return None
    at = word.start() - len(name)
    if match["close"] and text.endswith("::", 0, at):
        return None  # a type: "AWS::IAM::AccessKey"
    is_part = text.startswith(":", at - 1) and not text.startswith("::", at - 2)
    if is_part and match["equals"] == ":" and match["bare"]:
        return None  # a part of a name: "arn:aws:secretsmanager:...:secret:..."
    # As in a .env file: capitals, no blanks, no quotes. There even a plain word is a value.
    variable = text[at : word.end()]
    is_variable = match["equals"] == "=" and variable.isupper() and text[match.end("equals")] not in " \t"
    is_constant = variable.isupper() and "_" in variable
    if word[0] == "login" and not (is_constant and _is_long_key(match)):
        return None
    is_sure = (bool(match["quoted"]) and not match["argument"]) or is_variable
    strict = bool(match["argument"] or match["column"] or is_arrow) and not is_constant
    return _judged(text, match, word[0], following, plain_word=is_sure, strict=strict)


def _is_long_key(match: re.Match[str]) -> bool:
    """Whether what is assigned is a token, as some give it where a user's name could stand."""
    value = match["quoted"] or match["bare"] or ""
    return len(value) >= 20 and value.isalnum() and is_key(value)


def _said(
    text: str, word: re.Match[str], name: str, following: re.Match[str] | None
) -> tuple[int, int] | None:
    """Return where the value is in "the password for staging is ...", `--password ...`, "password ..."."""
    if word[0] in ("pass", "auth", "login") and not name.startswith("-") and not name.endswith("_"):
        return None
    match = pattern(_SAID).match(text, word.end(), word.end() + WINDOW)
    if match is None:
        return None
    if match["colon"] and not match["fill"]:
        return None
    is_told = bool(match["verb"] or match["colon"] or match["particle"] or match["possessive"])
    is_option = name.startswith("-") and not is_told
    if not match["bare"]:
        is_sure = True
    elif is_option:
        is_sure = pattern(_ENDS_AN_OPTION).match(text, match.end("bare")) is not None
    else:
        before = text[max(0, word.start() - 90) : word.start()] if not is_told else ""
        is_sure = before.endswith((" ", "\n", "\t")) and pattern(_LOGIN_BEFORE).search(before) is not None
    if not is_told and word[0] == "key" and not is_option and not name.lower().endswith(("api", "api_")):
        return None
    is_loose = bool(match["fill"]) and not match["of"]  # other words than "for staging" before the verb
    is_vague = match["vague"] is not None or match["possessive"] is not None
    strict = not is_sure and (not is_told or is_vague or is_loose)
    if strict and not is_told and pattern(_SHORT_HEX).fullmatch(match["bare"] or ""):
        return None  # of a commit or an id: "token 9a8dd7aa9c"
    return _judged(text, match, word[0], following, plain_word=is_sure, strict=strict)


def _said_before(text: str, word: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value is in "... is the password"."""
    if word[0].startswith(MADE) or word[0] in SHORT:
        return None
    before = text[max(0, word.start() - 120) : word.start()]
    if not (" is " in before or " as " in before or " was " in before):
        return None
    match = pattern(_SAID_BEFORE).search(text, max(0, word.start() - 120), word.start())
    if match and is_certain(match["password"]):
        return match.span("password")
    return None


def _value_before(text: str, word: re.Match[str], name: str) -> tuple[int, int] | None:
    """Return where the value is in `{"value": "...", "name": "DB_PASSWORD"}`."""
    at = word.start() - len(name)
    if not text.startswith('"', at - 1) or text.find('alue"', max(0, at - 500), at) < 0:
        return None
    match = pattern(_VALUE_BEFORE).search(text, max(0, at - 500), at)
    if match is None or pattern(f'{_END}"').match(text, word.end()) is None:
        return None
    return match.span("value") if _fits(word, match["value"]) else None


def _below(text: str, word: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value is in "here is the token:", when it stands alone in a line or block below."""
    line_end = text.find("\n", word.end(), word.end() + 200)
    if line_end < 0 or (
        line_end - word.end() > 4 and not pattern("[:\uff1a]").search(text, line_end - 5, line_end)
    ):
        return None  # as in most texts, and this is looked up much faster
    match = pattern(_BELOW).match(text, word.end(), word.end() + WINDOW)
    if match is None:
        return None
    line = text.rfind("\n", max(0, word.start() - 60), word.start()) + 1
    alone = _KEY_ALONE if word[0].startswith(MADE) else _OTHER_ALONE
    if not match["colon"] and (
        pattern(_ALONE).fullmatch(text, line, word.start()) is None
        or pattern(alone).fullmatch(match["value"]) is None
    ):
        return None
    value = match["value"][:_ENOUGH]
    return match.span("value") if _fits(word, value) and is_strict(value) else None


def _fits(word: re.Match[str], value: str) -> bool:
    """Tell whether *value* looks like what *word* names: a key that was made, or a password."""
    return is_key(value) if word[0].startswith(MADE) else is_password(value, plain_word=False)


def _pair(text: str, word: re.Match[str]) -> tuple[int, int] | None:
    """Return where the password is in "credentials: admin / ..."."""
    if not word[0].startswith(PAIRS) and word[0] != "creds":
        return None
    match = pattern(_PAIR).match(text, word.end(), word.end() + 300)
    if match and is_password(match["password"], plain_word=False) and match["password"] != match["user"]:
        return match.span("password")
    return None


def _judged(
    text: str,
    match: re.Match[str],
    word: str,
    following: re.Match[str] | None,
    *,
    plain_word: bool,
    strict: bool,
) -> tuple[int, int] | None:
    """
    Return the place of the value in *match* when it is a secret; *strict*: and cannot be anything else.

    The value ends where *following*, the next word that may name a secret, is given one.
    """
    group = next(name for name in ("quoted", "curly", "bare") if match[name])
    start, end = match.span(group)
    read_to = end
    if group == "bare":
        if match["code"] or match["bare"].endswith(("...", "…")):
            return None
        bare = match["bare"]
        if following and following.start() < end and pattern(_IS_GIVEN).match(text, following.end()):
            bare = text[start : max(start, following.start() - len(name_before(text, following.start())))]
        if "&" in bare:
            bare = pattern(_NEXT_FIELD).split(bare, maxsplit=1)[0]
        if text[start - 2 : start].lower() in ("3d", "22") and "%" in text[start - 5 : start]:
            bare = pattern(_NEXT_ESCAPED).split(bare, maxsplit=1)[0]
            if pattern(_ESCAPED_BRACKET).match(bare):
                return None  # a placeholder: {token}, <token>, ${token}
        if bare and bare[0].isascii() and not bare.isascii():
            bare = pattern(_OTHER_SCRIPT).split(bare, maxsplit=1)[0]
        end = start + len(bare.rstrip(".,:;?*"))
    while end - start > 2 and text[start] == text[end - 1] and text[start] in "\"'`":
        start, end = start + 1, end - 1
    value = text[start : min(end, start + _ENOUGH)]
    if word.startswith(MADE):
        is_secret = is_key(value)
    else:
        is_secret = is_password(value, plain_word=plain_word) or ("phrase" in word and is_pass_phrase(value))
    if not is_secret or (strict and not is_strict(value)):
        return None
    end = whole(text, end, start + _ENOUGH) if end == read_to else end
    while text.startswith(",", end) and (next_key := pattern(_ANOTHER).match(text, end)):
        if not is_key(next_key["value"]):
            break
        end = next_key.end()  # APP_KEYS=...,...
    return start, end
