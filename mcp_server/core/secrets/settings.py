"""
Secrets known by the file, the header or the call that they are in, under a name that does not show it.

A row of the table is a place: a literal to look for, a pattern for what follows it, and a test of the value.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from mcp_server.core.secrets.shapes import WINDOW, pattern, whole
from mcp_server.core.secrets.values import SecretSpan, is_certain, is_key, is_password, is_random


class Place(NamedTuple):
    """
    A place of secrets: `anchor` in lower case, `rest` from its end on with a group `secret`.

    `window` is how many characters after the anchor belong to it; `holds_several`: it may hold more than one.
    """

    anchor: str
    rest: str
    kind: str
    is_one: Callable[[str], bool]
    window: int = 400
    holds_several: bool = False


def _strong(value: str) -> bool:
    return is_password(value, plain_word=False)


def _seed(value: str) -> bool:
    return any(map(str.isdigit, value)) or is_random(value)


def _licence(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _cookie(value: str) -> bool:
    return is_key(value) and pattern(_UUID).fullmatch(value) is None  # which logs name sessions by


def _jumble(value: str) -> bool:
    return is_random(value.replace(" ", "").replace("-", ""))


_ARGUMENT = r"""[^()"'\n]{0,80}["'](?P<secret>[^"'\n]{1,128})["']"""
_CALLS = (
    "getconnection", "mysqli_connect", "mysql_connect", "mysqli", "pg_connect", "pdo", ".login", ".logon",
    "auth",
    ".authenticate", "basicauth", "basic_auth", "digestauth", "setcredentials", "passwordauthentication",
    "usernamepasswordcredentials", "networkcredential", "setbasicauth", ".credentials", "signin", "ftp_login",
    "ldap_bind", ".bind", "auth=", "simple_bind_s", "imap_open", "plainauth",
    "username_pw_set", "ftp", "connection", ".withcredentials", "unsafeplaintext",
    "jwt.sign", "jwt.encode", "jwt.verify", "jwt.decode", "createhmac", "hmac.new", "fernet",
    "client", "algoliasearch",
)  # fmt: skip
_ENDS_OF_CALLS = frozenset(call[-1] for call in _CALLS)
_AFTER_MAIL = r"""(?![0-9]{2,5}\b)(?P<secret>[^\s/:"']{6,64}+)(?![:/])"""
_USERS = ("admin", "root", "administrator", "postgres", "guest", "superuser")
_GROUPS = r"(?P<secret>[a-z]{4}(?:[ -][a-z]{4}){3})(?![\w])"
_FIELD = r"[^\s:]{1,80}:(?:[0-9]{1,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:(?P<secret>[^\s:]{4,128})"
_SESSION = r"(?:sess(?:ion)?(?:[_-]?id)?|[\w.-]{0,24}(?:sess(?:ion|id|ionid)?|sid|token"
_SESSION += r"|auth|jwt|remember|secret|login)[\w.-]{0,24})"

_HEX = "[0-9a-fA-F]"
# The bytes of a key, written as numbers.
_NUMBERS = r"""[^\n\[]{0,40}\[(?P<secret>(?:\s{0,12}[0-9]{1,3},){15,63}\s{0,12}[0-9]{1,3})\s{0,12}\]"""
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SEED = r"""[^\n]{0,60}?[\s"'`(:=]["'`]?(?P<secret>[A-Z2-7]{16,64}|[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,15}"""
_SEED += r"""|[a-z2-7]{4}(?: [a-z2-7]{4}){3,15})(?![\w-])"""
_LICENCE = r"""[^\n]{0,40}?[\s:="'](?P<secret>[A-Z0-9]{2,8}(?:-[A-Z0-9]{4,8}){2,7})(?![\w-])"""

# Into a field of a page: `fill("#password", "…")`, `get("#password").type("…")`.
_TYPED = (
    r"""[\]"')]{0,4}(?:\.(?:send_?[kK]eys|type|fill|set_?[vV]alue)\(|,\s?)["'](?P<secret>[^"'\n]{4,64})["']"""
)

_TABLE = (
    Place("pgpass", rf"(?s).{{0,80}}?(?<![^\s`'\"]){_FIELD}", "a password", _strong, 800, holds_several=True),
    Place(":5432:", r"[^\s:]{1,64}:[^\s:]{1,64}:(?P<secret>[^\s:]{4,128})(?![^\s])", "a password", _strong),
    Place("cookie:", rf"(?x)[^\n]{{0,2000}}?\b(?i:{_SESSION})=(?P<secret>[^\s;,\"']{{12,2048}})", "a session",
          is_key, WINDOW, holds_several=True),
    Place("chpasswd", r"(?s).{0,60}?\n\s{0,12}(?:- )?[\w.-]{1,32}:(?P<secret>\S{6,128})", "a password",
          is_certain, 800, holds_several=True),
    Place("contribsys__com=", r"(?P<secret>[0-9a-f]{8}:[0-9a-f]{8})", "a password", lambda value: True),
    Place("chap-secrets", r"(?s).{0,200}?\n\s{0,4}\S{1,64}\s+\S{1,64}\s+\"?(?P<secret>[^\s\"]{4,128})",
          "a password",          _strong, 600),
    Place("signature=", r"(?P<secret>[A-Za-z0-9%+/_~=-]{32,2048})", "a signature in a URL", is_key, WINDOW),
    Place("sig=", r"(?P<secret>[A-Za-z0-9%+/_~=-]{40,2048})", "a signature in a URL", is_key, WINDOW),
    Place("cookie=", r"""["']?(?P<secret>[A-Za-z0-9+/=_-]{16,2048})""", "a secret", is_key, WINDOW),
    Place("app password", rf"[^\n]{{0,40}}?\s[\"'`]?{_GROUPS}", "a password", _jumble),
    Place("app-specific password", rf"[^\n]{{0,40}}?\s[\"'`]?{_GROUPS}", "a password", _jumble),
    Place(".com:", _AFTER_MAIL, "a password", is_certain),
    Place(".org:", _AFTER_MAIL, "a password", is_certain),
    Place(".net:", _AFTER_MAIL, "a password", is_certain),
    Place(".de:", _AFTER_MAIL, "a password", is_certain),
    *(Place(f"{user}{sign}", rf"(?<![\w./@-](?i:{user}){sign}){_AFTER_MAIL}", "a password", is_certain)
      for user in _USERS for sign in (" / ", "/", ":")),
    Place("login=", r"[\w.-]{1,40}:(?P<secret>[^\s:/]{6,64})", "a password", is_certain),
    Place("clear-text=", r"[\"'](?P<secret>[^\"'\s]{6,64})", "a password", _strong),
    Place("u: ", r"\S{1,40}\s{1,3}p: (?P<secret>\S{6,64})", "a password", is_certain),
    Place("token=", r"(?P<secret>[A-Za-z0-9%+/_~=-]{20,2048})", "a token in a URL", is_key, WINDOW),
    Place("oauth:", r"(?P<secret>[a-z0-9]{30})(?![\w])", "a token", is_key),
    Place('"kty"', r'[^{}]{0,2000}?"(?:d|k)"\s{0,3}:\s{0,3}"(?P<secret>[\w-]{16,1024})"', "a private key",
          is_key,          WINDOW),
    Place("begin openvpn static key", r"[^\n]{0,20}\n(?P<secret>(?:[0-9a-f]{32}\n){8,16})", "a private key",
          lambda value: True, 800),
    *(Place(name, _SEED, "a 2FA secret", _seed)
      for name in ("2fa", "mfa", "totp", "authenticator", "setup key")),
    *(Place(name, _LICENCE, "a licence key", _licence)
      for name in ("licen", "lizenz", "product key", "product-key", "activation", "serial key", "_serial")),
    Place("sess", r"(?i)(?:ion)?_?(?:id)?=(?P<secret>[A-Za-z0-9%._~+/=-]{16,2048})", "a session", _cookie,
          WINDOW),
    Place(".sid=", r"(?P<secret>[A-Za-z0-9%._~+/=-]{16,2048})", "a session", _cookie, WINDOW),
    Place("dockerconfigjson", r"""["']?\s?[:=]\s{0,3}["']?(?P<secret>[A-Za-z0-9+/=]{24,4000})""",
          "a secret", is_key, WINDOW),
    Place("bundle_", r"(?i)[a-z0-9_]{1,80}=(?:[\w.-]{1,40}:)?(?P<secret>[\w-]{16,200})", "a password",
          is_key),
    Place("secret key", r"[^\n]{0,20}\n[ \t]{0,8}(?P<secret>[A-Za-z0-9+/=]{40,400})",
          "a private key", is_key, 600),
    *(Place(name, r"\s{1,40}key:\s{0,3}[\"']?(?P<secret>[A-Za-z0-9+/=_-]{16,200})", "a key", is_key)
      for name in ("encryption:", "signing:")),
    Place("password", _TYPED, "a password", is_certain),
    *(Place(f"{name} 0 ", r"(?P<secret>\S{6,64})", "a password", is_certain)
      for name in ("secret", "password")),
    Place("<d>", r"(?P<secret>[A-Za-z0-9+/=]{40,800})</", "a private key", is_key, 900),
    Place("identity.secret", r"[\s:=]{1,6}[0-9a-f]{10}:0:[0-9a-f]{128}:(?P<secret>[0-9a-f]{128})",
          "a private key", is_key),
    Place("wordpress_", r"(?:logged_in|sec)_[0-9a-f]{32}=(?P<secret>[^\s;\"']{20,400})", "a session",
          is_key, 600),
    Place('"username"', r"""\s?:\s?"[^"\n]{1,64}",\s{0,20}"key"\s?:\s?"(?P<secret>[\w-]{16,128})\"""",
          "a key", is_key),
    Place("pragma key", r"\s?=\s?[\"'](?P<secret>[^\"'\n]{4,128})", "a password", _strong),
    Place("_master=", r"(?P<secret>\S{8,128})", "a password", is_certain),
    Place("private key", rf"[^\n]{{0,40}}?[\s:=\"'`](?P<secret>(?:0x)?{_HEX}{{64}})(?![\w])",
          "a private key", is_key),
    Place("unseal key", r"[^\n]{0,12}?:\s?(?P<secret>[A-Za-z0-9+/]{43,44}=?)", "a key", is_key),
    Place("wifi:", r"(?i)[^\n]{0,120}?\bP:(?P<secret>[^;\n]{8,63});", "a password", _strong),
    Place("wifi.begin(", r"[^,()\n]{1,60},\s?[\"'](?P<secret>[^\"'\n]{8,63})[\"']", "a password", _strong),
    Place("<auth-user-pass>", r"\s{1,4}\S{1,64}\s{1,4}(?P<secret>\S{4,128})\s{1,4}<", "a password", _strong),
    Place("snmp-server community ", r"(?P<secret>\S{6,64})", "a password", is_certain),
    *(Place(f"{sign} pass ", r"(?P<secret>\S{6,64})", "a password", is_certain) for sign in ",;/"),
    Place("master.key", rf"[^\n]{{0,30}}?[\s:`](?P<secret>{_HEX}{{32}})(?![\w])", "a key", is_key),
    *(Place(name, _NUMBERS, "a private key", lambda value: True)
      for name in ("network_key", "keypair", "secret_key", "secretkey")),
    Place("_seed", r"""["']?\s?[:=]\s?["']?(?P<secret>[A-Za-z0-9+/=]{24,200})""", "a secret", is_key),
)  # fmt: skip

# A part of an anchor that is looked for first: most texts have few of these, and so few anchors are left.
_PARTS = ("=", ":", '"', "<", "_", "/", ";", "key", "password")
_PART_OF = [(next((part for part in _PARTS if part in place.anchor), ""), place) for place in _TABLE]


def in_settings(text: str, lowered: str) -> Iterator[SecretSpan]:
    """The values in the places of the table and in calls; *lowered* is *text* in lower case."""
    yield from _in_calls(text, lowered)
    present = {part for part in _PARTS if part in lowered} | {""}
    for place in [place for part, place in _PART_OF if part in present and place.anchor in lowered]:
        at = lowered.find(place.anchor)
        while at >= 0:
            start = at + len(place.anchor)
            at = lowered.find(place.anchor, start)
            limit = min(start + place.window, at if at >= 0 else len(text))
            match = pattern(place.rest).match(text, start, limit)
            while match:
                end = whole(text, match.end("secret"), start + place.window)
                if place.is_one(match["secret"]):
                    yield match.start("secret"), end, place.kind
                match = pattern(place.rest).match(text, match.end(), limit) if place.holds_several else None


def _in_calls(text: str, lowered: str) -> Iterator[SecretSpan]:
    at = text.find("(")
    while at >= 0:
        start = at + 1
        if lowered[at - 1 : at] in _ENDS_OF_CALLS and lowered.endswith(_CALLS, 0, at):
            match = pattern(_ARGUMENT).match(text, start, start + 600)
            while match:
                if is_certain(match["secret"]):
                    yield *match.span("secret"), "a password"
                match = pattern(_ARGUMENT).match(text, match.end(), start + 600)
        at = text.find("(", start)
