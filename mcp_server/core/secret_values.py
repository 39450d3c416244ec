"""Whether the value beside a word like "password" is a secret, or stands for one, or is a plain word."""

import re

# Where a value is only described, referred to or left out.
_PLACEHOLDER = re.compile(
    r"""
    [<\[{(].*[>\]})]                      # <token>, [REDACTED], {password}
    | [$%@!&*.…•_?#=~x-]+                 # ***, ..., xxx
    | (?:[0x.-]){3,} | 0+ | 1?2345678?9?0?x*
    | .*(?: x{4} | \*{3} | \.{3} | … | •{2} | [<>]{1,3}[a-z] ).*
    | (?: \$ | %[a-z(_{] | \#\{ | \{\{ | @\{ | \\?\$\{ ).*     # a variable of a shell or a template
    | .*(?: \$\{ | \$\( | \{\{ | \#\{ | %\( | <% ).*
    | (?: process\.env | os\.environ | env[.:\[] | environ[.\[] | secrets?\. | vars?\. | local\. | data\. | module\.
        | self\. | this\. | config\. | settings\. | options\. | props\. | args\. | params\. | request\. | req\.
        | vault: | op:// | arn: | ssm: | sm:// | ref\+ | keychain: | keyring: | file: | gcp: | aws: | azure: | kms:
        | !(?:ref|sub|vault|secret|env) | ansible ).*
    | \w+=\w+(?:[,&;]\s?\w+=\w+)*                                # settings, not a value
    | .*(?: 0-9 | a-z | \\[wdsb] | user(?:name)?.{1,3}pass(?:word)? ).*   # a pattern, a form
    | [a-z][a-z0-9+.-]{1,20}://.*                                # an address; its password is found there
    | sha(?:1|224|256|384|512)[-:].* | md5[-:].* | \{?(?:bcrypt|ssha|crypt|scram|argon2)[^a-z].*
    | \$(?:2[aby]?|5|6|argon2|pbkdf2|scrypt).*                   # a hash is not the password
    | .*\b(?: your | my | the | insert | enter | paste | replace | goes | here | put | same ) [_.\ -].*
    | .*[_.\ -](?: here | goes | value | placeholder | below | above ) \W*
    | .*(?: change[_-]?(?:me|this|it)\b | placeholder | redacted | removed | masked | replace[_-]?(?:me|this|with)
        | to[_-]?be | dummy | obfuscated | sanitized | example\b | your[_-]? | do[_-]?not | not[_-]?(?:a|the)[_-]?real
        | super[_-]?secret | not[_-]?(?:so[_-]?)?secret | top[_-]?secret | no[_-]?secret ).{0,24}
    """,
    re.VERBOSE | re.DOTALL,
)
# Words that are said of passwords and tokens, or name a field, a type, a scheme or a well-known default.
_WORDS = frozenset(
    """
    absent access admin argument arguments entries entry option options flag flags parameters fields prompts quoting require requires administrator alphanumeric always anonymous any api apikey argon2 argon2id array asked auth
    authenticated authentication authorization auto autocomplete automatic base base64 basic bcrypt bearer before below
    blank body bool boolean both broken bytes cached changed changeme character characters checked cleared client code
    compromised config configured confirm confirmed const constant cookie correct correctly created credential credentials
    current custom database decrypted default defined deleted demo denied deprecated different digest disabled discarded
    doe dotenv dummy either email empty enabled encoded encrypted enter env environment erased error example expired
    expires exposed extra failed fake false field file fine float forbidden foo foobar forever forgot forgotten found
    from func function generated get given good guest guessable hardcoded hash hashed header hidden hide hmac host how
    identical ignored implicit important inactive included incorrect injected inline input insecure int integer internal
    invalid issued json jwt kept key keychain keyring keys known later ldap leaked left length limited link literal
    local localhost locked logged login longer loaded lost manager mandatory masked match matches maybe md5 me method
    minimum missing mock model must mysql name needed never new nil no none not null number oauth oauth2 object obsolete
    obtained often okay old omitted once only open openid opaque optional other oracle padded param parameter parsed pass
    passcode passed passphrase passwd password passwords path pending permanent persisted plain plaintext plural postgres
    postgresql prefix present printed private prod production prompt prompted protected provided public pwd qwerty
    random randomly raw read readonly ready real received recommended redis refresh refreshed rejected remote removed
    rename renamed required reset retrieved returned revoked role root rotate rotated rotating safe saml salted same sample
    saved scoped scram scrypt secret secrets secure secured self sensitive sent server service session set setup sha1 sha256
    sha512 shared short shown sign signed simple single some sometimes source special split staging static stale still
    stolen stored string string1 string2 strong stub supplied symbol system temp temporary test test1 test123 tested
    tester testing text then there this todo toggle token tokens too totp true truncated tuple type types undefined
    unencrypted unhashed uninitialized unique unknown unset unused updated uppercase url usable used user username users uuid valid
    validated value values variable varchar varies verified verify version visible void weak webauthn what when
    where which will without word written wrong yes zero
    adgangskode contrasena heslo jelszo kennwort losenord parola parole parool passord passwort salasana senha wachtwoord
    """.split()
)
_TECHNICAL = re.compile(
    r"""
    (?: (?:a|hs|rs|es|ps|ed|x|sha|aes|md|rc|utf|iso|rfc|base|bcrypt|argon|pbkdf|oauth|auth|ipv?|http|tls|ssl|v|h|p|s|k|u|i|int
        |uint|float|cve|rsa|dsa|ecdsa|ec|gpt|claude|llama|vt|ascii|latin|web|log|ntlm|phase|step|part|level|line|chapter|field
        |col|column|row|item|section|table|figure|page|q|day|week|python|node|java|php|es|ecma|win|x86|arm|amd)
      [-_]? [0-9]{1,5} [a-z]{0,6} ) (?: [-/+._] [a-z0-9]{1,12} ){0,3}
    | [0-9]{1,4} [-]? (?: d | h | m | s | ms | x | k | kb | mb | gb | kib | mib | b | bit | bits | byte | bytes | char | chars
        | characters | digit | digits | day | days | hour | hours | hr | hrs | min | mins | minute | minutes | sec | secs
        | month | months | year | years | words | word | times | st | nd | rd | th | % | \+ ) (?: [-/].{0,20} )?
    | [0-9.,:/+-]{0,12}                                          # a short number, a date, a version
    | v?[0-9]{1,4}(?:\.[0-9x]{1,6}){1,4}(?:[-+].{0,20})?
    | [0-9]{4}-[0-9]{2}-[0-9]{2}.*
    """,
    re.VERBOSE,
)
_PATH = re.compile(r"(?:~|\.{1,2})?[/\\].*|[\w.-]{1,60}(?:/[\w.-]{1,60}){1,8}/?|[A-Za-z]:\\.*")
_FILE = re.compile(
    r".*\.(?:json|ya?ml|txt|pem|key|crt|cer|p12|pfx|env|py|pyi|tsx?|jsx?|mjs|html?|md|sh|toml|ini|conf|cfg|xml|go|rs|rb"
    r"|php|java|kt|cs|cpp|h|sql|db|log|csv|png|svg|css|gpg|asc|local|com|org|net|io|dev|lock|tf|tfvars|properties)"
)
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# The pairs of letters that make up nine tenths of English text, most frequent first.
_USUAL_PAIRS = frozenset(
    """
    th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic
    ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un
    lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev
    ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu
    rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br
    """.split()
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|-)[A-Za-z_$][\w$]*)*")
_PART_OF_A_NAME = re.compile(
    r"pass|pwd|token|tok\b|secret|cred|auth|api|key|user|input|param|arg|value|conf|setting|env|str|data|result|hash"
    r"|expect|actual|test|foo|bar|baz|mock|fake|temp|tmp|login|field|text|name|hint|label"
)
_SYMBOLS = frozenset("!@#$%^&*?~+=|")


def is_placeholder(value: str) -> bool:
    """Whether *value* stands for a secret, is a reference to where one is kept, or a well-known word."""
    lowered = value.lower().strip()
    return lowered.strip("'\"`:;,.!?()[]{}") in _WORDS or _PLACEHOLDER.fullmatch(lowered) is not None


def is_random(value: str) -> bool:
    """
    Whether *value* is more of a jumble than of words and numbers.

    'a8f3k2j9' and 'QwXzTyUjKpAs' are a jumble; 'my-app-secret', 's3_client2', 'Ed25519PrivateKey' and
    'gpt-4-turbo' are not.
    """
    length = known = changes = 0
    for part in re.findall(r"[A-Za-z0-9]+", value):
        pieces = _PIECE.findall(part)
        length += len(part)
        changes += len(pieces) - 1
        if len(pieces) == 1 and len(part) <= (4 if part.isdecimal() else 3) and len(part) < len(value):
            known += len(part)
        else:
            known += sum(len(piece) for piece in pieces if _is_word(piece))
    if length < 8 or known * 2 > length or value.isdecimal():
        return False
    if any(character.isdecimal() for character in value):
        return changes >= 3 or (changes == 2 and length <= 12)
    return length >= 16 or (changes >= 3 and length >= 12)


def _is_word(piece: str) -> bool:
    """Whether the letters of *piece* follow each other as they do in English."""
    letters = piece.lower()
    if not 4 <= len(letters) <= 20:
        return False
    usual = sum(letters[at : at + 2] in _USUAL_PAIRS for at in range(len(letters) - 1))
    return usual * 4 >= (len(letters) - 1) * 3


def is_key(value: str) -> bool:
    """Whether *value*, given as a token, a key or a secret, is one: not a name, a path or a number."""
    if len(value) < 8 or is_placeholder(value) or _FILE.fullmatch(value.lower()) or len(set(value)) < 5:
        return False
    if _TECHNICAL.fullmatch(value.lower()) or " " in value:
        return False
    if _PATH.fullmatch(value) and not (len(value) >= 20 and is_random(value)):
        return False
    return is_random(value) or has_symbols(value)


def is_password(value: str, *, plain_word: bool) -> bool:
    """
    Whether *value*, given as a password, is one; *plain_word* lets one of letters alone be one.

    Passwords are short and human, so that all depends on what is not one: placeholders, names of
    variables, types, paths, numbers with a unit, what is said about passwords.
    """
    lowered = value.lower()
    if not 4 <= len(value) <= 256 or " " in value or is_placeholder(value) or len(set(value)) < 3:
        return False
    if _TECHNICAL.fullmatch(lowered):
        return value.isdecimal() and len(value) >= 6
    if _FILE.fullmatch(lowered) or (_PATH.fullmatch(value) and not is_random(value)):
        return False
    if value.isascii() and value.isalpha():
        return plain_word and len(value) >= 6 and not _PART_OF_A_NAME.search(lowered)
    if _NAME.fullmatch(value) and not is_random(value):
        has_digit = any(character.isdigit() for character in value)
        return (
            has_digit
            and len(value) >= 6
            and "." not in value
            and (plain_word or not _PART_OF_A_NAME.search(lowered))
        )
    has_letter = any(character.isalnum() for character in value)
    return has_letter and value.isprintable() and value.isascii()


def has_symbols(value: str) -> bool:
    """Whether *value* has letters, digits and a symbol that no name has: 'Tr0ub4dor&3'."""
    return (
        any(character.isalpha() for character in value)
        and any(character.isdigit() for character in value)
        and any(character in _SYMBOLS for character in value)
    )
