"""Whether the value next to a word like "password" is a secret, a placeholder for one, or a plain word."""

import re
from functools import lru_cache

from mcp_server.core.secrets.shapes import pattern

SecretSpan = tuple[int, int, str]
"""Where a secret is in a text: its start, its end, and what it is."""

# All of a value that only describes or names a secret, or says where one is kept.
_STANDS_FOR_ONE = r"""(?xs)
    [<\[{(].*[>\]})]                                            # <token>, [REDACTED], {password}
    | [$%@!&*.…•_?#=~x-]+ | [0x.-]{3,} | 1?2345678?9?0?x*       # ***, ..., xxx
    | [a-z_][\w.]{0,60}\(\)                                      # a call
    | \$\w+:?\W? | %\w+% | \$?\{.* | @\{.*\}.*                 # a variable of a shell or a template
    | %\(.*\)[sdr] | (?:%[sdr]\W?)+
    | (?: process\.env | os\.environ | env(?:iron)?[.:\[] | secrets?\. | vars?\. | local\. | data\.
        | module\. | self\. | this\. | config\. | settings\. | options\. | props\. | args\. | params\.
        | req(?:uest)?\. | vault: | op:// | arn: | ssm: | sm:// | ref\+ | key(?:chain|ring): | file: | gcp:
        | aws: | azure: | kms: | !(?:ref|sub|vault|secret|env) | ansible ).*
    | [a-z_-]{2,16}=(?:[a-z]{1,10}|[0-9]{1,6})                  # settings
        (?:[,&;]\s?[a-z_-]{2,16}=(?:[a-z]{1,10}|[0-9]{1,6})){0,9}
    | (?: min | max | size | regex | same | between | digits | current_password ) [:|].*
    | (?: [a-z_]+(?::[\w,.]{1,20})? \| )+ [a-z_]+(?::[\w,.]{1,20})?         # a rule for passwords
    | [a-z][a-z0-9+.-]{1,20}://.*                               # an address; its password is found there
    | sha(?:1|224|256|384|512)[-:].* | md5[-:].* | \{?(?:bcrypt|ssha|crypt|scram|argon2)[^a-z].*
    | \$(?:2[aby]?|5|6|1|y|7|apr1|argon2|pbkdf2|scrypt).*                  # a hash is not the password
    """
# A part of a value that shows that it is an example or a template.
_IN_AN_EXAMPLE = r"""(?xs)
    x{4} | \*{3} | \.{3} | … | •{2} | [<>]{1,3}[a-z]
    | \$\{[^}]*\} | \$\([^)]*\) | \{\{.*\}\} | \#\{[^}]*\} | %\(\w+\)s | <%.*%>
    | \[\^?-?(?:0-9|a-z) | (?:a-z|0-9){2} | \\[wdsb] | user(?:name)?.{1,3}pass(?:word)?
    | \b(?: your | my | the | insert | enter | paste | replace | goes | here | put | same ) [_.\ -]
    | [_.\ -](?: here | goes | value | placeholder | below | above ) \W*\Z
    | change[_-]?(?:me|this|it)\b | placeholder | redacted | removed | masked | replace[_-]?(?:me|this|with)
    | to[_-]?be | dummy | obfuscated | sanitized | example\b | your[_-] | do[_-]?not
    | not[_-]?(?:a|the)[_-]?real | super[_-]?secret | not[_-]?(?:so[_-]?)?secret | top[_-]?secret
    | no[_-]?secret
    """
# Words that are said of passwords and tokens, or name a field, a type, a scheme or a well-known default.
_WORDS = frozenset(
    """
    absent access adgangskode admin administrator alphanumeric always anonymous any api apikey argon2 argon2id
    argument arguments array asked auth authenticated authentication authorization auto autocomplete automatic
    base base64 basic bcrypt bearer before below blank body bool boolean both broken bytes cached changed
    changeme character characters checked cleared client code compromised config configured confirm confirmed
    const constant contrasena cookie correct correctly created credential credentials current custom database
    decrypted default defined deleted demo denied deprecated different digest disabled discarded doe dotenv
    dummy either email empty enabled encoded encrypted enter entries entry env environment erased error
    example expired expires exposed extra failed fake false field fields file fine flag flags float foo foobar
    forbidden forever forgot forgotten found from func function generated get given good guessable guest
    hardcoded hash hashed header heslo hidden hide hmac host how identical ignored implicit important inactive
    included incorrect injected inline input insecure int integer internal invalid issued jelszo json jwt
    kennwort kept key keychain keyring keys known later ldap leaked left length limited link literal loaded
    local localhost locked logged login longer losenord lost manager mandatory masked match matches maybe md5
    me method minimum missing mock model must mysql name needed never new nil no none not null number oauth
    oauth2 object obsolete obtained often okay old omitted once only opaque open openid option optional
    options oracle other padded param parameter parameters parola parole parool parsed pass passcode passed
    passord passphrase passwd password passwords passwort path pending permanent persisted plain plaintext
    plural postgres postgresql prefix present printed private prod production prompt prompted prompts
    protected provided public pwd quoting qwerty random randomly raw read readonly ready real received
    recommended redis refresh refreshed rejected remote removed rename renamed require required requires reset
    retrieved returned revoked role root rotate rotated rotating safe salasana salted same saml sample saved
    scoped scram scrypt secret secrets secure secured self senha sensitive sent server service session set
    setup sha1 sha256 sha512 shared short shown sign signed simple single some sometimes source special split
    staging stale static still stolen stored string string1 string2 strong stub supplied symbol system temp
    temporary test test1 test123 tested tester testing text then there this todo toggle token tokens too totp
    true truncated tuple type types undefined unencrypted unhashed uninitialized unique unknown unset unused
    updated uppercase url usable used user username users uuid valid validated value values varchar variable
    varies verified verify version visible void wachtwoord weak webauthn what when where which will without
    word written wrong yes zero
    """.split()
)
_TECHNICAL = (  # 'sha256', 'oauth2', '24h', '12-character', '2026-11-20', '1.2.3'
    r"""(?x)
    (?: (?: a|h|i|k|p|q|s|u|v|x ) [0-9]{1,5} [a-z]{0,2}
      | (?: hs|rs|es|ps|ed|ec|sha|aes|md|rc|vt|utf|iso|rfc|base|bcrypt|argon|pbkdf|oauth|auth|ipv?|http|tls
          |ssl|u?int|float|cve|rsa|[ed][cd]?dsa|gpt|claude|llama|ascii|latin|web|log|ntlm|phase|step|part|level
          |line|chapter|field|col|column|row|item|section|table|figure|page|day|week|python|node|java|php|ecma|win
          |amd|arm ) [-_]? [0-9]{1,5} [a-z]{0,6}
    ) (?: [-/+._] [a-z0-9]{1,12} ){0,3}
    | [0-9]{1,4}(?:[.,][0-9]{1,4})? -? (?: [dhmsxkb%+] | ms | m[0-9.]{1,4}s | h[0-9]{1,2}m
        | st | nd | rd | th | [kmg]i?b | bits? | bytes?
        | char(?:acter)?s?
        | digits? | words? | days? | hours? | hrs? | min(?:ute)?s? | sec(?:ond)?s? | months? | years?
        | times ) (?: [-/].{0,20} )?
    | [0-9.,:/+-]{0,12}
    | v?[0-9]{1,4}(?:\.[0-9x]{1,6}){1,4}(?:[-+].{0,20})?
    | [0-9]{4}-[0-9]{2}-[0-9]{2}.*
    """
)
_PATH = r"(?:~|\.{1,2})?[/\\].*|[\w.-]{1,60}(?:/[\w.-]{1,60}){1,8}/?|[A-Za-z]:\\.*"
_FILE = (
    r".*\.(?:json|ya?ml|txt|pem|key|crt|cer|p12|pfx|env|pyi?|[jt]sx?|mjs|html?|md|sh|toml|ini|conf|cfg|xml|go|rs"
    r"|rb|php|java|kt|cs|cpp|h|sql|db|log|csv|png|svg|css|gpg|asc|local|com|org|net|io|dev|lock|tf|tfvars"
    r"|properties)"
)
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# The pairs of letters that make up nine tenths of English text, most frequent first.
_USUAL_PAIRS = frozenset(
    """
    th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi
    ri ro ic ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc
    et ut ss so rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv
    ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do
    uc bu ei ov by rm ep tt oc fa ef cu rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht
    ru ug ds lt pi rc rr eg au ck ew mu br
    """.split()
)
_NAME = r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|-)[A-Za-z_$][\w$]*)*"
_PART_OF_A_NAME = (
    r"pass|pwd|token|tok\b|secret|cred|auth|api|key|user|input|param|arg|value|conf|setting|env|str|data|result|hash"
    r"|expect|actual|test|foo|bar|baz|mock|fake|temp|tmp|login|field|text|name|hint|label"
)
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SAID_OF_ONE = r"(?:ed|able|ible|ing|less|tion|ive|ous)\Z"  # of a password: 'uncompromised'
_OF_SENTENCES = frozenset(
    "the your our and for are was with has have not but can may must should will does from this that please "
    "enter least into when where who which you they their use used using via per than then been being its "
    "any all one".split()
)
_SYMBOLS = frozenset("!@#$%^&*?~+=|")


_KEPT = 1024  # values in each cache, so that each is judged only once in a text


def forget_values() -> None:
    """Empty the cache of judged values, because it holds secrets."""
    for judge in (is_strict, is_key, is_password):
        judge.cache_clear()


def is_placeholder(value: str) -> bool:
    """Whether *value* stands for a secret, is a reference to where one is kept, or a well-known word."""
    lowered = value.lower().strip()
    return lowered.strip("'\"`:;,.!?()[]{}") in _WORDS or bool(
        pattern(_STANDS_FOR_ONE).fullmatch(lowered) or pattern(_IN_AN_EXAMPLE).search(lowered)
    )


def is_random(value: str) -> bool:
    """
    Whether *value* looks more random than made of words and numbers.

    'a8f3k2j9' and 'QwXzTyUjKpAs' are a jumble; 'my-app-secret', 's3_client2', 'Ed25519PrivateKey' and
    'gpt-4-turbo' are not.
    """
    length = letters = word_letters = changes = 0
    value = value[:64]  # enough to tell
    for part in re.findall(r"[A-Za-z0-9]+", value):
        pieces = _PIECE.findall(part)
        length += len(part)
        letters += sum(map(str.isalpha, part))
        changes += len(pieces) - 1
        if part.isalpha() and len(part) <= 3 and len(part) < len(value):
            word_letters += len(part)
        else:
            word_letters += sum(len(piece) for piece in pieces if _is_word(piece))
    if length < 8 or not letters or word_letters * 2 > max(letters, length // 2):
        return False
    if any(character.isdecimal() for character in value):
        return (
            changes >= 3 or (changes == 2 and length <= 12) or (length >= 12 and word_letters * 4 <= letters)
        )
    return word_letters * 4 <= letters and (length >= 16 or (changes >= 3 and length >= 12))


def _is_word(piece: str) -> bool:
    """Whether the letters of *piece* follow each other as they do in English."""
    letters = piece.lower()
    if not (3 if piece.istitle() else 4) <= len(letters) <= 20:
        return False
    usual = sum(letters[at : at + 2] in _USUAL_PAIRS for at in range(len(letters) - 1))
    return usual * 4 >= (len(letters) - 1) * 3


@lru_cache(maxsize=_KEPT)
def is_strict(value: str) -> bool:
    """Whether *value* is like nothing but a secret, whatever is said of it."""
    return is_random(value) or has_symbols(value) or _is_mixed(value)


def _is_mixed(value: str) -> bool:
    """Whether *value* changes between small, capital and digit as no name does: 'P4ssfalcon2750'."""
    if len(value) < 8 or not pattern(r"[\w-]+").fullmatch(value) or "_" in value:
        return False
    pieces = re.findall(r"[a-z]+|[A-Z]+|[0-9]+", value)
    digits = sum(map(str.isdigit, value))
    is_name = "-" not in value and not value[-1].isdigit()  # Ed25519PrivateKey
    return (
        digits >= 3 and len(pieces) >= 4 and not is_name and value.lower() != value and value.upper() != value
    )


@lru_cache(maxsize=_KEPT)
def is_key(value: str) -> bool:
    """Whether *value*, given as a token, a key or a secret, is one: not a name, a path or a number."""
    if len(value) < 8 or len(set(value)) < 5 or " " in value:
        return False
    if _is_dense(value) or pattern(_UUID).fullmatch(value):
        return True
    if _is_reference(value):
        return False
    if pattern(_TECHNICAL).fullmatch(value.lower()):
        return False
    is_random_value = is_random(value)
    if pattern(_PATH).fullmatch(value) and not (
        is_random_value and (value[0] not in "/.~" or len(value) >= 20)
    ):
        return False
    return is_random_value or is_strict(value)


def _is_reference(value: str) -> bool:
    """Whether *value* is a placeholder, a file or a name with dots in a program: 'settings.api_key'."""
    is_dotted_name = "." in value and value.isascii() and not any(map(str.isdigit, value))
    return (
        is_placeholder(value)
        or pattern(_FILE).fullmatch(value.lower()) is not None
        or (is_dotted_name and pattern(_NAME).fullmatch(value) is not None)
    )


@lru_cache(maxsize=_KEPT)
def is_password(value: str, *, plain_word: bool) -> bool:
    """
    Whether *value*, given as a password, is one; *plain_word* lets one of letters alone be one.

    Passwords are short and human, so that all depends on what is not one: placeholders, names of
    variables, types, paths, numbers with a unit, what is said about passwords.
    """
    lowered = value.lower()
    if " " in value:
        return plain_word and _is_phrase(value)
    if len(value) < 4 or len(set(value)) < 3 or _is_reference(value):
        return False
    if pattern(_TECHNICAL).fullmatch(lowered):
        return value.isdecimal() and len(value) >= 6
    if is_random(value):
        return True
    if pattern(_PATH).fullmatch(value):
        return False
    if has_symbols(value):
        return True
    if value.isascii() and value.isalpha():
        is_name = bool(pattern(_PART_OF_A_NAME).search(lowered) or pattern(_SAID_OF_ONE).search(lowered))
        return plain_word and len(value) >= 6 and not is_name
    if pattern(_NAME).fullmatch(value):
        is_name = "." in value or not any(map(str.isdigit, value)) or len(value) < 6
        return not is_name and (plain_word or not pattern(_PART_OF_A_NAME).search(lowered))
    is_said = not plain_word and all(_is_word(word) for word in re.findall(r"\w+", value))
    return value.isascii() and value.isprintable() and any(map(str.isalnum, value)) and not is_said


def is_certain(value: str) -> bool:
    """Whether *value*, given as a password, is one and is like nothing else."""
    return is_password(value, plain_word=False) and is_strict(value)


def _is_phrase(value: str) -> bool:
    """Whether *value* is a pass phrase: four to eight words that make no sentence."""
    words = value.split(" ")
    known_words = sum(word in _WORDS for word in words)
    return (
        4 <= len(words) <= 8
        and all(
            word.isascii() and word.isalpha() and word.islower() and 3 <= len(word) <= 12 for word in words
        )
        and known_words <= 1
        and _OF_SENTENCES.isdisjoint(words)
    )


def is_pass_phrase(value: str) -> bool:
    """Whether *value*, given as a pass phrase, is one: words joined by blanks, dashes or dots."""
    words = re.split(r"[ ._-]", value[:200])
    return (
        3 <= len(words) <= 12
        and len(value) >= 14
        and all(word.isalnum() for word in words)
        and sum(word.lower() in _WORDS for word in words) <= 1
        and _OF_SENTENCES.isdisjoint(words)
        and not _is_reference(value)
    )


def _is_dense(value: str) -> bool:
    """Whether *value* has so many symbols between its letters and digits that it was made by chance."""
    symbols = {character for character in value if not character.isalnum()}
    return (
        len(value) >= 24
        and len(symbols) >= 6
        and value.isascii()
        and not pattern(r"\s|[a-zA-Z]{8}|\w\[:|[\[:][0-9]\]|a-z|0-9|\$\{|%\(|\{\{").search(value)
        and sum(map(str.isdigit, value)) >= 2
    )


def has_symbols(value: str) -> bool:
    """Whether *value* has letters, digits and a symbol that no name has: 'Tr0ub4dor&3'."""
    return (
        any(character.isalpha() for character in value)
        and any(character.isdigit() for character in value)
        and any(character in _SYMBOLS for character in value)
    )
