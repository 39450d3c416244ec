"""
Passwords in command lines: `curl -u user:...`, `mysql -p...`, `net use ...`, `echo ... | sudo -S`.

A table names programs and the options after which a password stands.
A program is looked for as it is written; the options only in the rest of its line.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from mcp_server.core.secrets.shapes import pattern
from mcp_server.core.secrets.values import SecretSpan, is_certain, is_password

_MAX_COMMAND = 1000  # characters of one command line that are read
_KIND = "a password in a command"

_USER = r"""(?P<user>[^\s:"'$%,/]{1,100})"""
_COLON = r"\s(?:-[A-Za-z]{0,6}u|--user|--proxy-user|-[aU]|--auth)(?:\s{1,3}|=)?"
_P = r"\s-p(?:\s{1,3}|=)"
_UPPER_P = r"\s-P\s{0,3}"
_ATTACHED = r"\s-p(?![\s])"


_WORDS = re.compile(r"[A-Za-z0-9][\w.-]*")
_OF_WORDS = bytes(
    code if code < 128 and (chr(code).isalnum() or chr(code) in "_.-") else 32 for code in range(256)
)


class Option(NamedTuple):
    """
    After which `before` a password is in the line of each of `programs`.

    `between` joins a user before it to it; `strict`: the value must be like nothing but a password;
    `at_once`: it follows the program itself.
    """

    programs: str
    before: str
    between: str = ""
    strict: bool = False
    at_once: bool = False


_TABLE = (
    Option("curl|http|https|xh|wget", _COLON, ":"),
    Option("sshpass", r"\s-p\s{0,3}"),
    Option("mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump|mycli", _ATTACHED),
    Option("mysqladmin", r"\spassword\s{1,3}"),
    Option("7z|7za|7zr|7zz|rar|unrar", _ATTACHED),
    Option("zip|unzip|zipcloak", _UPPER_P),
    Option("sqlcmd|bcp|tsql|ipmitool|mosquitto_pub|mosquitto_sub|isql|osql", _UPPER_P),
    Option("redis-cli|valkey-cli|keydb-cli", r"\s-a\s{1,3}"),
    Option("mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|influx|cqlsh|arangosh", _P),
    Option("login|hydra|medusa|psexec|PsExec|evil-winrm|nxc|netexec|crackmapexec", _P),
    Option("az|oc|rancher|cf|ibmcloud|argocd|harbor|skopeo|buildah|crane|oras|snowsql|winexe|rdesktop"
           "|plink|pscp|wput|ncftp|ncftpput|couchbase-cli|cbq|cypher-shell|hdbsql",
           r"\s-(?:p|pw)(?:\s{1,3}|=)",
           strict=True),
    Option("ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd|ldapcompare", r"\s-[ws]\s{1,3}"),
    Option("smbclient|rpcclient|smbget|net|wmic|pth-winexe|smbmap|winexe", r"\s-U\s{0,3}|--user=", "%"),
    Option("lftp|ncftp|aria2c", r"\s(?:-u|open\s-u)\s{1,3}", ","),
    Option("gh", r"\ssecret\sset\s[^\n]{1,100}?\s(?:-b|--body)(?:\s{1,3}|=)", strict=True),
    Option("htpasswd", r"(?=\s-[A-Za-z0-9]{0,6}b)(?:\s-[A-Za-z0-9]{1,8})+(?:\s[^\s-]\S{0,200}){1,2}\s"),
    Option("openssl", r"\s-pass(?:in|out|word)?\s{1,3}pass:|\spass:"),
    Option("openssl", r"\s-k\s{1,3}", strict=True),
    Option("keytool|jarsigner|apksigner|signtool", r"\s-(?:p|(?:store|key|new|src|dest)pass)\s{1,3}"),
    Option("apksigner|adb", r"\s--(?:ks|key)-pass\s{1,3}pass:"),
    Option("net|net.exe", r"\s/user:\S{1,64}\s{1,3}|\suse\s\S{2,80}\s{1,3}(?=[^\s/\\*])", strict=True),
    Option("net|net.exe", r"\suser\s{1,3}[^\s/]{1,64}\s{1,3}", strict=True),
    Option("cmdkey|cmdkey.exe|xfreerdp|runas|schtasks|wmic", r"\s/(?:p|pass|password|rp):"),
    Option("rabbitmqctl|ejabberdctl", r"\s(?:add_user|change_password|register)\s{1,3}\S{1,64}\s{1,3}"),
    Option("snmpget|snmpwalk|snmpset|snmpbulkwalk|snmpgetnext", r"\s-[AX]\s{1,3}"),
    Option("sqlplus|expdp|impdp|sqlldr|rman|thin:", r"(?<=[\s:])(?=[^\s/]{1,64}/)", "/"),
    Option("ssh-keygen|puttygen", r"\s-[NP]\s{1,3}"),
    Option("gpg|gpg2", r"\s--passphrase(?:\s{1,3}|=)"),
    Option("ConvertTo-SecureString", r"(?:\s-String)?\s{1,3}(?![-$])", at_once=True),
    Option("IDENTIFIED BY|identified by|IDENTIFIED WITH|identified with",
           r"(?:\s\w{1,40}\s(?i:by|as)|\s(?i:password))?\s(?=['\"])", at_once=True),
    Option("IDENTIFIED BY|identified by|WITH PASSWORD|with password|SET PASSWORD",
           r"\s{1,3}(?:=\s{0,3})?N?", strict=True, at_once=True),
    Option("requirepass|masterauth|bindpw|rootpw|secretpw|rocommunity", r"\s{1,3}", at_once=True),
    Option("bw|rbw|lpass", r"\s(?:unlock|login\s\S{3,64})\s", strict=True),
    Option("set-user-password|set-password|change-password|reset-password|wpa_passphrase|smbpasswd|setpassword",
           r"\s{1,3}(?:\S{1,40}\s{1,3}){0,3}?", strict=True, at_once=True),
    Option("AUTH|PASS|LOGIN|IDENTIFY|REGISTER",
           r"\s{1,3}(?:\S{1,40}\s)?(?=[^\s=]{6,80}\s{0,3}$)", strict=True, at_once=True),
    Option("user", r"\s\S{1,64}(?:\s[^\s>]{1,40}){0,6}\s>", strict=True, at_once=True),
    Option("createUser", r"\s\S{1,64}\s(?:MD5|SHA(?:-?[0-9]{3})?)\s|\s(?:AES|DES)\s", strict=True),
    Option("authtoken|add-authtoken|config:set|setx", r"\s(?:[A-Za-z_]{1,40}\s)?", strict=True, at_once=True),
    Option("user-secrets", r"""\sset\s"?[\w:]{1,60}"?\s""", strict=True, at_once=True),
)  # fmt: skip
_ARGUMENT = r"""(?P<quote>["'])?{user}(?P<password>(?(quote)[^"'\n]|[^\s"'\\;|<>]){{4,200}})"""

# A password that is printed into the program that asks for it.
_PIPED = (
    r"""(?x)(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+)?(?P<quote>["'])?(?:(?P<user>[\w.@-]{1,64}):)?"""
    r"""(?P<password>(?(quote)[^"'\n]|[^\s"'\\;|<>]){4,128}?)(?:\\n)?(?(quote)(?P=quote))[ \t]*\|[ \t]*"""
    r"""(?:\S{1,60}[ \t]+){0,2}?"""
    r"""(?:sudo\b[^\n|]{0,40}-S|su\b|passwd\b|chpasswd\b|cryptsetup\b|smbpasswd\b|ssh-add\b|gpg\b|kinit\b"""
    r"""|openssl\b|saslpasswd2\b|mount\b|(?:docker|podman|helm|nerdctl|oras|crane|skopeo)\b[^\n]{0,120}--password-stdin"""
    r"""|(?:docker|podman)[ \t]+secret[ \t]+create\b"""
    r"""|[^\n|]{0,160}(?:--password-stdin|--stdin|passphrase-fd))"""
)
_HERE = r"""<<<[ \t]*(?P<quote>["'])?(?P<password>(?(quote)[^"'\n]|[^\s"'\\;|<>]){6,128})"""
_WRITTEN = (
    r"""(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+)?(?P<quote>["'])?"""
    r"""(?P<password>(?(quote)[^"'\n]|[^\s"'\\;|<>]){4,128}?)"""
    r"""(?:\\n)?(?(quote)(?P=quote))[ \t]*>{1,2}[ \t]*[^\s;|&]{0,80}(?i:pass|pwd|secret|token|cred)"""
)
_SENT = r"""[^\n]{0,40}?(?:\n[ \t]*)?send(?:line)?[ \t]*(?:-- )?[(]?["']"""
_SENT += r"""(?P<password>[^"'\n\\]{4,128})(?:\\[rn])?["']"""

_HANDED_OVER = (  # a literal without which none of those behind it is there
    ("echo ", (("echo ", _PIPED), ("echo ", _WRITTEN))),
    ("printf ", (("printf ", _PIPED), ("printf ", _WRITTEN))),
    ("<<<", (("<<<", _HERE),)),
    ("assword:", (("password:", _SENT), ("Password:", _SENT), ("assword:", _SENT))),
)


def in_commands(text: str) -> Iterator[SecretSpan]:
    """The password in a command line."""
    for program, options in _options_in(text):
        for at in _places(text, program):
            end = _command_end(text, at, program)
            has_dash = text.find(" -", at, end) >= 0
            for option in options:
                if has_dash or not option.before.startswith(r"\s-"):
                    yield from _given_to(option, text, at + len(program), end)
    yield from _handed_over(text)


def _options_in(text: str) -> Iterator[tuple[str, list[Option]]]:
    """Yield the programs that *text* names, with the options of each."""
    by_word, others = _by_program()
    yield from ((word, by_word[word]) for word in _words(text) & by_word.keys())
    yield from ((program, options) for program, options in others.items() if program in text)


def _given_to(option: Option, text: str, start: int, end: int) -> Iterator[SecretSpan]:
    """The passwords that *option* is given in a command line, from *start* to *end* of *text*."""
    argument = _argument(option)
    find = argument.match if option.at_once else argument.search
    match = find(text, start, end)
    while match:
        if match["password"] != match["user"] and _is_secret(match["password"], strict=option.strict):
            yield *match.span("password"), _KIND
        match = find(text, match.end(), end)


def _words(text: str) -> set[str]:
    """Return what `_WORDS` finds in *text*, in a third of the time where that is in ASCII."""
    if not text.isascii():
        return set(_WORDS.findall(text))
    words = set(text.encode().translate(_OF_WORDS).decode().split())
    return words | {word.lstrip("_.-") for word in words if word[0] in "_.-"}


def _is_secret(value: str, *, strict: bool) -> bool:
    return is_certain(value) if strict else is_password(value, plain_word=True)


def _handed_over(text: str) -> Iterator[SecretSpan]:
    """What is printed into a program, fed to it, or sent when it asks."""
    for literal, source in [pair for part, pairs in _HANDED_OVER if part in text for pair in pairs]:
        for at in _places(text, literal):
            where = at + len(literal) if source == _SENT else at
            match = pattern(source).match(text, where, where + 400)
            if match and _is_secret(match["password"], strict=source not in (_PIPED, _SENT)):
                yield *match.span("password"), _KIND


@cache
def _by_program() -> tuple[dict[str, list[Option]], dict[str, list[Option]]]:
    """Return the options of each program whose name is one word, and of those whose name is more."""
    by_word: dict[str, list[Option]] = {}
    others: dict[str, list[Option]] = {}
    for option in _TABLE:
        for program in option.programs.split("|"):
            is_word = program.replace("-", "").replace("_", "").isalnum()
            (by_word if is_word else others).setdefault(program, []).append(option)
    return by_word, others


@cache
def _argument(option: Option) -> re.Pattern[str]:
    user = f"{_USER}{option.between}" if option.between else "(?P<user>)"
    return re.compile(f"(?:{option.before}){_ARGUMENT.format(user=user)}")


def _command_end(text: str, at: int, program: str) -> int:
    """Return where the command line at *at* ends: at a line end without backslash, or the next one."""
    limit = min(len(text), at + _MAX_COMMAND)
    end = text.find("\n", at, limit)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1, limit)
    end = end if end > 0 else limit
    again = _next(text, program, at + len(program), end)
    return again if again > 0 else end


def _places(text: str, literal: str) -> Iterator[int]:
    """Yield where *literal* stands as a word."""
    at = _next(text, literal, 0, len(text))
    while at >= 0:
        yield at
        at = _next(text, literal, at + len(literal), len(text))


def _next(text: str, literal: str, start: int, end: int) -> int:
    """Return the next place of *literal* as a word, -1 when there is none."""
    at = text.find(literal, start, end)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(literal) : at + len(literal) + 1]
        if not (before.isalnum() or before == ".") and not (after.isalnum() and literal[-1].isalnum()):
            return at
        at = text.find(literal, at + len(literal), end)
    return at
