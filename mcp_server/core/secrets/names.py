"""Which words name a secret: "password" in many languages, `client_secret`, `-storepass`, not `cache_key`."""

import re

from mcp_server.core.secrets.shapes import pattern

_OF = "(?: d['’]| de l['’]| dell['’]| da| de)? ?"
WORD = re.compile(
    r"pass(?:[_-]?(?:word|phrase|code)|wd|wort|ord|e(?=[ \t]{0,3}[:=]|\s))?|pwd|pw|psk"
    r"|secret(?:[_.-]?(?:access[_.-]?)?key)?"
    r"|token|key|creden(?:tials?|ziali|ciais)|creds|auth(?:orization|-user-pass)?|login|salt|pepper"
    r"|zugangsdaten|anmeldedaten"
    r"|identifiants|credenciales|kennwort|contrase[nñ]a|clave|senha|parola|wachtwoord|has[lł]o|heslo|lozinka|geslo"
    r"|l[öo]senord|adgangskode|salasana|jelsz(?:[óo]|av[aá])|mdp\b|zugangscode"
    r"|şifre|sifre|kata sandi|mật khẩu"
    r"|парол|κωδικ|パスワード|暗証番号"
    r"|密[码碼]|口令|비밀번호|암호|كلمة (?:ال)?(?:مرور|سر)|סיסמ|पासवर्ड|รหัสผ่าน[\u0e00-\u0e7f]{0,30}"
    rf"|ключ api|klucz api|cl[ée]{_OF}api|chiave{_OF}api|chave{_OF}api|llave{_OF}api|密[钥鑰]|токен"
    r"|api[ -]?(?:schlüssel|sleutel|nyckel|nøkkel|nøgle|anahtarı|ключ|密[钥鑰]|キー|키)"
)
WORD_BEGINNINGS = (
    *"pass pwd pw psk secret token key cred auth login salt pepper zugang anmeldedaten identifiants".split(),
    *"contrase kennwort clave senha parola wachtwoord hasl hasł heslo lozinka geslo losenord".split(),
    *"lösenord adgangskode salasana jelsz mdp şifre sifre парол κωδικ パスワード 暗証番号 密 口令".split(),
    *"비밀번호 암호 סיסמ पासवर्ड รหัสผ่าน токен cle clé chiave chave llave api".split(),
    *("kata sandi", "mật khẩu", "كلمة ", "ключ api", "klucz api"),
)
"""What each match of `WORD` begins with one of."""

# What may follow the word in its language: "Passordet", "parolası", "пароля", "סיסמה".
ENDING = r"(?:[^\W\d_]{1,3}(?<![A-Za-z])|(?<!pass)(?:et|en|n|t|na|n[ıi]n|si|ya)(?![A-Za-z])"
ENDING += r"|[^\W\d_]{1,3}(?<=[^\x00-\x7f]))?"
MADE = ("secret", "token", "key", "cred", "auth", "salt", "pepper")  # by machines; the others are by people
PAIRS = ("cred", "login", "zugangs", "anmelde", "identif", "auth-user")  # a user comes first
SHORT = frozenset("pass passe pw pwd psk auth creds senha login salt pepper clave".split())
# What stands before "pass", and makes another word of it.
_NO_PASS = ("by", "com", "encom", "tres", "sur", "under", "over", "tow", "im")
# What stands before "pass" when it is a round or a test.
_ROUND = (
    r"(?i)\b(?:first|second|third|fourth|last|next|final|one|two|1st|2nd|3rd|[0-9]th|single|initial|each|per|another"
    r"|test|tests|build|lint|review|render|compiler|boarding|season|ski)[ \t-]{1,3}\Z"
)
# What stands before "key" when it opens something.
_OPENING = tuple(
    "access account admin aes api app application auth cipher client consumer crypt crypto deploy "
    "deployment enc encryption fernet function hmac host ingest ingestion integration jwt licence license "
    "master preshared private recovery role sdk secret security server service session shared signature "
    "signing ssh storage subscription webhook write logged_in logged-in nonce routing "
    "validation decryption".split()
)
# What stands before "token" when it is a piece of text or a place in a list.
_NO_TOKEN = frozenset(
    "antiforgery begin bos cancel cancellation change cls continuation count csrf current delta design "
    "end eos first id idempotency input key last lock lookahead mask max min n next num of output pad "
    "page per prev previous public reserved resume sep skip special start stop stream sync syntax total "
    "unk used verification xsrf".split()
)
# What stands before `_KEY=` in capitals when it opens nothing.
_NO_KEY = frozenset(
    "anon cache checksum document foreign group hash idempotency index lock object partition primary public "
    "publishable row site sort unique".split()
)
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_ESCAPE = re.compile(r"\A(?:25)?[0-9A-Fa-f]{2}")  # what stands behind the % of "%3Ftoken" and "%253Ftoken"
_LAST_WORD = re.compile(r"[0-9]*(?:[a-z]+[A-Z]?|[A-Z]+)")  # read backwards


def name_before(text: str, start: int) -> str:
    """Return the part of the name that stands before the word at *start*: 'client_' of `client_secret`."""
    before = text[max(0, start - 48) : start]
    name = before[len(before.rstrip(_NAME_CHARACTERS)) :]
    return _ESCAPE.sub("", name) if text.startswith("%", start - len(name) - 1) else name


def names_a_secret(text: str, word: re.Match[str], name: str) -> bool:
    """Whether *word*, found in the lower-cased text, names a secret with *name* before it."""
    start, found_name = word.start(), word[0]
    if found_name in SHORT and name[-1:].isalpha() and not (text[start].isupper() and name[-1].islower()):
        # One word of two: SSHPASS and -storepass, but not "bypass".
        is_joined = found_name in ("pass", "pw", "pwd") and (
            name.isupper() or name[0] in "-_" or found_name != "pass"
        )
        if not is_joined or name.lower().endswith(_NO_PASS):
            return False
    if found_name == "pass":
        if name:
            return True
        return (text[start] == "p" or text.startswith("<", start - 1)) and pattern(_ROUND).search(
            text, max(0, start - 20), start
        ) is None
    if found_name.startswith("credential"):
        return not name.endswith("Amz-")  # in a URL, the id of a key
    if found_name not in ("key", "token"):
        return True
    last = _last_word((name or text[max(0, start - 24) : start]).rstrip("_-. "))
    if found_name == "token":
        return last not in _NO_TOKEN
    is_variable = name.isupper() and name.endswith("_") and text.startswith("KEY=", start)
    return last.endswith(_OPENING) or (is_variable and last not in _NO_KEY)


def kind_of(word: str) -> str:
    """Return what a secret that *word* names is called in messages."""
    if not word.startswith(MADE):
        return "a password"
    if word == "key":
        return "an API key"
    return "a token" if word == "token" else "a secret"


def _last_word(before: str) -> str:
    """Return the last word of a name in lower case: 'access' of `awsAccess`."""
    match = _LAST_WORD.match(before[::-1])
    return match[0][::-1].lower() if match else ""
