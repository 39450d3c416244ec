"""
Secrets known by where they stand: between the lines of a private key, in a URL, a header, a manifest.

Each function looks for a literal and reads a bounded number of characters from there, and yields
start, end and kind of what it finds.
"""

import base64
import binascii
import re
from collections.abc import Iterator

from mcp_server.core.secrets.shapes import WINDOW, pattern, whole
from mcp_server.core.secrets.values import (
    SecretSpan,
    is_key,
    is_password,
    is_placeholder,
    is_random,
    is_strict,
)

MAX_KEY_BLOCK = 64 * 1024  # characters between the two lines around a private key

_BEGIN_KEY = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_END_KEY = r"-----END [A-Z0-9 ]{0,60}-----"
_KEY_LINES = (  # of a block that was cut short
    r"""(?:(?:\s|\\[nrt]|[>|,"'+#-]){0,12}+[A-Za-z0-9+/=]{16,4096}+){1,800}+(?:\s{0,4}[A-Za-z0-9+/]{1,15}={1,2})?"""
)
_PUTTY = r"Private-Lines: [0-9]{1,4}\s{1,4}(?P<secret>(?:[A-Za-z0-9+/=]{1,64}\s{1,4}+){1,400}+)"


def private_keys(text: str) -> Iterator[SecretSpan]:
    """Whole blocks from BEGIN to END, in one line or many; a block without an END as far as its lines go."""
    read_to = 0
    for at in places_of(text, "-----BEGIN "):
        begin = pattern(_BEGIN_KEY).match(text, at, at + 120)
        if at < read_to or begin is None:
            continue
        stop = text.find("-----", begin.end(), begin.end() + MAX_KEY_BLOCK)
        stop += text.startswith("------END ", stop)  # a line that a diff takes out
        end = pattern(_END_KEY).match(text, stop, stop + 80) if stop >= 0 else None
        lines = pattern(_KEY_LINES).match(text, begin.end(), begin.end() + MAX_KEY_BLOCK)
        if end and len(re.sub(r"\\[nrt]|[^A-Za-z0-9+/=]", "", text[begin.end() : stop])) >= 40:
            read_to = end.end()
        elif lines and lines.end() - lines.start() >= 40:
            read_to = lines.end()
        else:
            continue
        yield at, read_to, "a private key"
    for at in places_of(text, "Private-Lines: "):
        if match := pattern(_PUTTY).match(text, at, at + 8 * WINDOW):
            yield *match.span("secret"), "a private key"


_USERINFO = (
    r"""://(?P<user>[^\s/?#@:"'<>`\\]{0,200})(?::(?P<password>[^\s/"'<>`\\]{1,300}))?@(?=[\w\[.$%{*-])"""
)
_NAMES_ONE = r"(?i)[a-z_.-]{0,20}(?:pass|pwd|secret|token|credential)[a-z_.-]{0,20}"


def in_urls(text: str) -> Iterator[SecretSpan]:
    """The password before the host of a URL, or the token that stands alone there."""
    for at in places_of(text, "://"):
        match = pattern(_USERINFO).match(text, at, at + WINDOW)
        if match is None:
            continue
        user, password = match["user"], match["password"]
        if password and password not in (user, "x-oauth-basic"):
            least = 5 if password.isalpha() else 6 if password.isdecimal() else 3  # not a word, not a port
            if len(password) >= least and not (
                is_placeholder(password) or pattern(_NAMES_ONE).fullmatch(password)
            ):
                yield *match.span("password"), "a password in a URL"
        elif text[at - 4 : at] in ("http", "ttps") and len(user) >= 16 and is_random(user):
            yield *match.span("user"), "a token in a URL"


_HOST_BEHIND = r"(?:tcp|unix)\(|[\w.-]{1,100}(?::[0-9]{2,5}\b|/\w)"
_WORD_BEFORE = r"""[^\s"'`@/:]{3,128}"""
_USER_BEFORE = r"""(?:^|[\s"'`=(,])[A-Za-z][\w.+-]{0,63}\Z"""


def before_hosts(text: str) -> Iterator[SecretSpan]:
    """The password in `user:password@host` where no scheme stands before it, as in the DSN of a driver."""
    for at in places_of(text, "@"):
        colon = text.rfind(":", max(0, at - 129), at)
        if colon < 0 or not pattern(_WORD_BEFORE).fullmatch(text, colon + 1, at):
            continue
        password = text[colon + 1 : at]
        if (
            pattern(_HOST_BEHIND).match(text, at + 1)
            and pattern(_USER_BEFORE).search(text, max(0, colon - 65), colon)
            and (is_strict(password) or text.startswith(("tcp(", "unix("), at + 1))
            and is_password(password, plain_word=True)
        ):
            yield colon + 1, at, "a password"


# Addresses that give access to anyone who knows them: of a webhook, a private feed, a `?key=`.
_ADDRESS = r"[^\s\"'`<>]{24,2000}"
_IN_ADDRESSES = r"""(?xi)
    (?: hooks?(?:\.[\w-]{1,40}){0,5}(?::[0-9]{1,5})?(?:/(?!blob|tree|commit|raw)[\w.-]{1,40}){0,4}?/
        (?P<hook>[\w-]{20,128}+)(?![\w/.-])
      | /private-(?P<feed>[0-9a-f]{32})(?=/)
      | /(?:inputs?|alert|v[0-9](?:/input)?)/(?P<intake>[\w-]{32,64}+)(?![\w.-])
      | /(?:key|token|secret)/(?P<path>[\w~%+=-]{20,200}+)(?![\w/.])
      | /(?:login|magic|invite|reset|verify|confirm)/(?P<link>[\w-]{32,200}+)(?![\w/.-])
      | [?&](?:key|auth)=(?P<key>[\w%+/~=-]{20,2000})
      | [?&](?:appid|code)=(?P<code>[\w%+/~=-]{32,2000}) )"""


def in_addresses(text: str) -> Iterator[SecretSpan]:
    """The part of a URL that is as good as a password."""
    read_to = 0
    for at in places_of(text, "://"):
        address = pattern(_ADDRESS).match(text, at + 3, at + 3 + WINDOW) if at >= read_to else None
        if address is None:
            continue
        read_to = address.end()
        for match in pattern(_IN_ADDRESSES).finditer(text, at + 3, read_to):
            group = match.lastgroup or 0
            if is_key(match[group]):
                yield match.start(group), whole(text, match.end(group), at + 3 + WINDOW), "a token in a URL"


_SCHEME = r"""(?x)
    (?P<header>authorization["'`\\]{0,4}\s{0,4}[:=,]\s{0,4}[fbr]?["'`\\]{0,4}\s{0,4})?
    (?P<scheme>(?(header)[a-z][a-z0-9-]{1,24}|(?:bearer|basic|token|apikey|api-key)))
    (?:\s|%20|["'`]\s{0,3}\+\s{0,3}|:\s){1,3}["'`\\]{0,3}
    (?P<value>[a-z0-9._~+/:|=-]{8,4096})"""


def in_headers(text: str, lowered: str) -> Iterator[SecretSpan]:
    """What follows `Authorization: <scheme>`, Bearer and Basic; *lowered* is *text* in lower case."""
    for literal in ("authorization", "bearer", "basic"):
        for at in places_of(lowered, literal):
            match = pattern(_SCHEME).match(lowered, at, at + WINDOW)
            if match is None:
                continue
            start, end = match.span("value")
            value = text[start : whole(text, end, at + WINDOW)].rstrip(".:")
            if match["scheme"] == "basic":
                if _is_user_and_password(value):
                    yield start, start + len(value), "a user and password in base64"
            elif is_key(value) or (match["header"] and is_password(value, plain_word=False)):
                yield start, start + len(value), "an authorization token"


def _is_user_and_password(value: str) -> bool:
    try:
        head = value.rstrip("=")[:512]
        plain = base64.b64decode(head + "=" * (-len(head) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    return bool(plain.partition(":")[2]) and plain.isprintable()


_MANIFEST_VALUE = (
    r"""(?m)^[ ]{1,8}["']?[\w.-]{1,80}["']?:[ ]{1,4}["']?(?P<secret>[A-Za-z0-9+/]{8,4096}={0,2})["']?\s*?$"""
)


def in_manifests(text: str) -> Iterator[SecretSpan]:
    """The values in base64 of a Kubernetes manifest of the kind Secret."""
    read_to = 0
    for at in places_of(text, "kind: Secret"):
        if at < read_to:
            continue
        stop = text.find("\n---", at, at + WINDOW)
        read_to = window_end = stop if stop >= 0 else at + WINDOW
        data = text.find("\ndata:", max(0, at - 1000), window_end)
        for match in pattern(_MANIFEST_VALUE).finditer(text, data + 1, window_end) if data >= 0 else ():
            if _is_base64_text(match["secret"]):
                yield *match.span("secret"), "a secret in a manifest"


def _is_base64_text(value: str) -> bool:
    try:
        return len(base64.b64decode(value[:512], validate=True)) >= 4
    except (binascii.Error, ValueError):
        return False


def places_of(text: str, literal: str) -> Iterator[int]:
    """Yield where *literal* stands in *text*."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)
