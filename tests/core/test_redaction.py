"""
What is masked as a secret and what is left alone.

No secret stands in this file: each is put together when the tests run, from a prefix in two halves and
random characters of a fixed seed, so that no scanner of repositories takes it for one.
"""

import base64
import random
import string
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.redaction import Secret, find_secrets, redact

Maker = Callable[[random.Random], str]
HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_"
UPPER = string.ascii_uppercase + string.digits


def any_of(alphabet: str, length: int, *parts: str) -> Maker:
    """Return a maker of `parts` followed by random characters."""

    def make(source: random.Random) -> str:
        return "".join(parts) + "".join(source.choices(alphabet, k=length))

    return make


def joined(*makers: Maker | str) -> Maker:
    return lambda source: "".join(part if isinstance(part, str) else part(source) for part in makers)


def encoded(source: random.Random, text: str) -> str:
    filled = text.replace("@", "".join(source.choices(ALNUM, k=24)))
    return base64.urlsafe_b64encode(filled.encode("ascii")).decode("ascii").rstrip("=")


def jwt(source: random.Random) -> str:
    header, claims = encoded(source, '{"alg":"HS256","typ":"JWT"}'), encoded(source, '{"sub":"@","iat":17}')
    return f"{header}.{claims}.{any_of(URLSAFE, 43)(source)}"


def private_key(kind: str) -> Maker:
    def make(source: random.Random) -> str:
        lines = [any_of(ALNUM + "+/", 64)(source) for _ in range(6)]
        dashes = "-" * 5
        begin, end = f"{dashes}BEGIN {kind}{dashes}", f"{dashes}END {kind}{dashes}"
        return "\n".join((begin, *lines, any_of(ALNUM, 30)(source) + "==", end))

    return make


SHAPED: dict[str, Maker] = {
    "AWS": any_of(UPPER, 16, "AK", "IA"),
    "AWS temporary": any_of(UPPER, 16, "AS", "IA"),
    "GitHub personal": any_of(ALNUM, 36, "gh", "p_"),
    "GitHub OAuth": any_of(ALNUM, 36, "gh", "o_"),
    "GitHub server": any_of(ALNUM, 36, "gh", "s_"),
    "GitHub user": any_of(ALNUM, 36, "gh", "u_"),
    "GitHub fine-grained": joined(any_of(ALNUM, 22, "github", "_pat_"), any_of(ALNUM, 59, "_")),
    "GitLab": any_of(ALNUM, 20, "gl", "pat-"),
    "Slack bot": joined(
        any_of("123456789", 12, "xo", "xb-"), any_of("123456789", 12, "-"), any_of(ALNUM, 24, "-")
    ),
    "Slack user": joined(any_of("123456789", 12, "xo", "xp-"), any_of(HEX, 32, "-")),
    "Stripe": any_of(ALNUM, 24, "sk", "_live_"),
    "Stripe restricted": any_of(ALNUM, 24, "rk", "_live_"),
    "Stripe webhook": any_of(ALNUM, 32, "wh", "sec_"),
    "OpenAI": joined(any_of(ALNUM, 20, "s", "k-"), any_of(ALNUM, 20, "T3Blbk", "FJ")),
    "OpenAI project": any_of(URLSAFE, 120, "sk-", "proj-"),
    "Anthropic": any_of(URLSAFE, 93, "sk-", "ant-api03-"),
    "OpenRouter": any_of(HEX, 64, "sk-", "or-v1-"),
    "Google API": any_of(ALNUM + "_-", 34, "AI", "zaS"),
    "Google access": any_of(URLSAFE, 80, "ya", "29.a0"),
    "Google client": any_of(ALNUM, 28, "GOC", "SPX-"),
    "npm": any_of(ALNUM, 36, "np", "m_"),
    "PyPI": any_of(URLSAFE, 120, "py", "pi-AgEIcHlwaS5vcmc"),
    "SendGrid": joined(any_of(ALNUM, 22, "S", "G."), any_of(ALNUM, 43, ".")),
    "Twilio": any_of(HEX, 32, "S", "K"),
    "DigitalOcean": any_of(HEX, 64, "dop", "_v1_"),
    "Hugging Face": any_of(string.ascii_letters, 34, "h", "f_"),
    "Databricks": any_of(HEX, 32, "da", "pi"),
    "Linear": any_of(ALNUM, 40, "lin", "_api_"),
    "Notion": any_of(ALNUM, 43, "nt", "n_"),
    "Notion older": any_of(ALNUM, 43, "sec", "ret_"),
    "Shopify": any_of(HEX, 32, "shp", "at_"),
    "Square": any_of(URLSAFE, 43, "sq0", "csp-"),
    "Mailgun": any_of(HEX, 32, "ke", "y-"),
    "Telegram": joined(any_of("123456789", 10), any_of(ALNUM, 33, ":A", "A")),
    "Discord": joined(any_of(ALNUM, 23, "M"), any_of(ALNUM, 6, "."), any_of(ALNUM, 38, ".")),
    "age": any_of(UPPER, 58, "AGE-SECRET", "-KEY-1"),
    "JSON web token": jwt,
    "RSA key": private_key("RSA " + "PRIVATE KEY"),
    "OpenSSH key": private_key("OPENSSH " + "PRIVATE KEY"),
    "Vault": any_of(ALNUM, 90, "hv", "s."),
    "Doppler": any_of(ALNUM, 43, "dp", ".pt."),
    "Fly": any_of(URLSAFE, 43, "fo", "1_"),
    "Supabase": any_of(HEX, 40, "sb", "p_"),
    "PlanetScale": any_of(URLSAFE, 43, "pscale", "_tkn_"),
    "Terraform": joined(any_of(ALNUM, 14), any_of(ALNUM, 67, ".atlas", "v1.")),
    "Cloudflare": any_of(ALNUM, 40, "cf", "ut_"),
    "Grafana": joined(any_of(ALNUM, 32, "gl", "sa_"), any_of(HEX, 8, "_")),
    "New Relic": any_of(UPPER, 27, "NR", "AK-"),
    "Docker": any_of(ALNUM, 27, "dckr", "_pat_"),
    "Figma": any_of(ALNUM, 40, "fi", "gd_"),
    "Postman": joined(any_of(HEX, 24, "PM", "AK-"), any_of(HEX, 34, "-")),
    "Groq": any_of(ALNUM, 52, "gs", "k_"),
    "Sentry": any_of(HEX, 64, "sntry", "u_"),
    "Atlassian": any_of(ALNUM, 180, "ATA", "TT3"),
    "Pulumi": any_of(HEX, 40, "pu", "l-"),
    "Tailscale": joined(any_of(ALNUM, 16, "ts", "key-auth-"), any_of(ALNUM, 32, "-")),
}
PLACES = """\
§
export X=§
{"k": "§", "n": 1}
{\\"text\\": \\"first\\n§\\"}
k: §
x = '§';
Use §.
The one we use is §, and it expires in May.
curl -H "X-Custom: §" https://api.example.org/v1
https://api.example.org/v1?x=§&page=2
2026-11-20 09:12:03 ERROR refused (§)
- `§` was pasted into the chat
<value>§</value>
%3D§%26
""".splitlines()

PASSWORDS: tuple[Maker, ...] = (
    lambda source: (
        source.choice(("hunter", "dragon", "monkey", "Sommer")) + str(source.randint(2, 9999)) + "!x"
    ),
    lambda source: any_of(ALNUM + "!#%*+=", 14)(source) + "7a",
    lambda source: "Tr0ub4dor" + "&" + str(source.randint(3, 99)),
    lambda source: source.choice(("corgi", "tulip")) + "-" + any_of(LOWER, 6)(source) + "7",
)
KEYS: tuple[Maker, ...] = (
    any_of(HEX, 32),
    any_of(ALNUM, 40),
    any_of(ALNUM + "+/", 38, "a1"),
    any_of(LOWER, 24),
)
PASSWORD_PLACES = """\
password = "§"
password: '§'
PASSWORD=§
export DB_PASSWORD=§
POSTGRES_PASSWORD: §
"password": "§",
\\"password\\": \\"§\\"
'db_pass' => '§',
passwd = §
PGPASSWORD=§ psql -h db -U app
mytool --user ada --password §
mytool --password=§ --force
my_password: str = "§"
const adminPassword: string = '§'
<password>§</password>
<add key="SmtpPassword" value="§" />
  - name: DB_PASSWORD⏎    value: "§"
Server=db;Database=shop;User Id=sa;Password=§;
jdbc:postgresql://db/shop?user=app&password=§&ssl=true
postgres://app:§@db.internal:5432/shop
redis://:§@cache:6379/0
https://ada:§@example.org/repo
curl -u ada:§ https://example.org
curl -s --user "ada:§" https://example.org
curl https://example.org \\⏎  -u 'ada:§'
sshpass -p '§' ssh ada@example.org
mysql -u root -p'§' shop
machine example.org login ada password §
CREATE USER ada IDENTIFIED BY '§';
ALTER ROLE ada WITH PASSWORD '§';
os.environ["DB_PASSWORD"] = "§"
define('DB_PASSWORD', '§');
The password is §
the password for the staging database is §, do not share it
My wifi password is `§`.
The root password was changed to "§" yesterday.
| password | § |
**Password**: §
Password: §
user: ada, pw: §
login: ada / §
credentials are ada:§
use § as the password
""".splitlines()
KEY_PLACES = """\
api_key = "§"
API_KEY=§
STRIPE_API_KEY: §
"apiKey": "§",
\\"api_key\\":\\"§\\"
client_secret: '§'
const clientSecret = '§';
AWS_SECRET_ACCESS_KEY=§
aws_secret_access_key = §
SECRET_KEY = '§'
ACCESS_TOKEN=§
auth_token: §
"token": "§"
_authToken=§
X-Api-Key: §
curl -H "X-Auth-Token: §" https://example.org
Authorization: Bearer §
Authorization: token §
"Authorization": "Bearer §"
headers={"Authorization": "Bearer §"}
-H 'Authorization: ApiKey §'
requests.get(url, params={"access_token": "§"})
https://example.org/hook?token=§&x=1
mytool login --token §
mytool --api-key=§
ENCRYPTION_KEY="§"
AccountName=shop;AccountKey=§;EndpointSuffix=core.windows.net
https://§@example.org/repo.git
setToken("§")
os.getenv("API_TOKEN", "§")
The API key is §
our webhook secret is § now
here is the token: §
""".splitlines()


def positives() -> Iterator[tuple[str, str, str, str]]:
    """Yield group, name, text and the secret in it."""
    source = random.Random(20261120)
    for name, maker in SHAPED.items():
        for place in PLACES:
            secret = maker(source)
            yield "shaped", name, f"Some words before.\n{place.replace('§', secret)}\nand after", secret
    for group, makers, places in (("password", PASSWORDS, PASSWORD_PLACES), ("key", KEYS, KEY_PLACES)):
        for place in places:
            for maker in makers:
                secret = maker(source)
                if "/" in secret and "://§@" in place:
                    continue  # it would end the host
                text = place.replace("§", secret).replace("⏎", "\n")
                yield group, place, f"First.\n{text}\nLast.", secret


def is_masked(text: str, secret: str) -> bool:
    at = text.index(secret)
    return any((found.start, found.end) == (at, at + len(secret)) for found in find_secrets(text))


# One a line; ⏎ is a line break, and · is nothing: it keeps scanners from taking one for what it is not.
NO_SECRETS = r"""
password: str
password: str | None = None
password: Optional[str] = None
password: SecretStr
password: string;
password?: string
password String
std::string password;
String password = null;
let password: String
private String password;
password = ""
password = ''
password: ""
password =
PASSWORD=
PASSWORD=""
GITHUB_API_KEY=⏎DYNATRACE_API_KEY=
password = None
password: null
password: true
password: required
"password": "string"
"password": {"type": "string", "minLength": 12}
'password' => 'required|string|min:8|confirmed',
password: z.string().min(8).max(128)
password = getpass.getpass()
password = derive_key2b(salt)
password = unwrap2b(box)
password = users[0].password9
password = input("Password: ")
password = os.environ["DB_PASSWORD"]
password = os.environ.get("DB_PASSWORD", "")
password = os.getenv("DB_PASSWORD")
password: process.env.DB_PASSWORD,
const token = process.env.GITHUB_TOKEN;
token = config.auth_token2
splitpasswd = urllib.parse._splitpasswd
USER_PASSWD = "%s:%s" % (user, password)
self.password = password
self._token = token
password = settings.DATABASE_PASSWORD
password = request.form["password"]
password=password, user=user
password = data.password2
new_password = form.cleaned_data["new_password1"]
if password != confirm_password:
if (password === password2) {
password = generate_password(length=16)
password = Fernet.generate_key()
token = next(tokens)
token = lexer.next_token()
token = tokens[i + 1]
token = await getToken({ req });
token: Token | undefined
tokens = 4096
max_tokens: 4096
max_tokens=8192
"max_tokens": 1024, "model": "gpt-4o-mini-2024-07-18"
total_tokens: 123456789012
token_type: bearer
token_url: https://example.org/oauth2/token
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased-v2")
pad_token = "<pad>"
eos_token: "</s>"
next_page_token: "CAUQAA·2b7c9d8e7f6a5b4c3d"
continuationToken=eyJv·ZmZzZXQiOjEwMH0
csrf_token = "Mj2qykJO5rELyHgezQ69nzUX0i3OH67V"
publicKeyToken="1fc8b3b9a1e18e3b"
"AWS::IAM::AccessKey": "72c2d9dd90025459"
--change-token abcd12f2-46da-4fdb-b8d5-fbd4c466928f
"lastModifiedSecret": 1556311319.069,
primary_key = "id"
foreign_key: users.id_v2
cache_key = "user:1234:profile:v2"
sort_key: created_at
public_key = "9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit"
key = "a8f3k2·j9d0s7f6g5h4j3k2l1"
key_id: 555ea4a3-d53a-4412-9c66-3a7cb667b0d6
keyboard: qwerty-2024-b
secret_name: "my-app-tls-2024"
secretName: web-tls-v2
secretRef: db-creds-7f9c
secret: my-app-secret
secret: db-credentials
secretKeyRef:
SECRET_NAME = "NEXUS-GPT4-API-KEY"
api_key = "your-api-key"
api_key: YOUR_API_KEY_HERE
API_KEY=your_api_key_here
apiKey: "<your api key>"
api_key="xxxxxxxxxxxxxxxx"
API_KEY=XXXXXXXXXXXXXXXXXXXXXXXX
api_key = "************"
api_key = "..."
api_key: "sk-..."
ANTHROPIC_API_KEY=sk-ant-...
export ANTHROPIC_API_KEY="sk-ant-your-key-here"
export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx
GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
token: ${{ secrets.NPM_TOKEN }}
password: ${DB_PASSWORD}
password: ${DB_PASSWORD:?not set}
password: "{{ vault_db_password }}"
password: $DB_PASSWORD
PASSWORD=$(cat /run/secrets/db_password)
PASSWORD=`pass show db`
DB_PASSWORD=%DB_PASSWORD%
DB_PASSWORD_FILE=/run/secrets/db_password
password_file: ./secrets/db.txt
password: /run/secrets/db
password: !vault |
password: op://Private/database/password
password: vault:secret/data/db#password
api_key: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
password = changeme
password: change_me
PASSWORD=changeme
MYSQL_ROOT_PASSWORD=example
POSTGRES_PASSWORD=postgres
password: "pass·word"
password: "secret"
password: <password>
password: [REDACTED]
password: ********
password: •••••••••
password = "{password}"
password = f"{prefix}-{suffix}"
password = "%s"
login --password-stdin
docker login -u ada --password-stdin
pass the --password option to the tool
With the --password whatever option it works.
The --token flag takes a file, see --help.
$ psql --password
curl -u "$USER:$PASSWORD" https://example.org
curl -u user:password https://example.org
curl -u <user>:<token> https://example.org
docker run -u 1000:1000 alpine
mysql -u root -p shop
http://localhost:8080/path@v2
https://example.org:443/@scope/package@1.2.3
git@github.com:acme/shop.git
ssh://git@github.com/acme/shop.git
https://user:password@example.org
http://$HOST:8000@g
postgres://shopapp:shopapp@localhost/shop
postgres://app:RANDOM_PASSWORD@db/x
https://username:password@example.org/path
https://<user>:<password>@example.org
https://${USER}:${TOKEN}@github.com/acme/shop
postgresql://postgres:postgres@localhost:5432/postgres
postgres://$PGUSER:$PGPASSWORD@db/shop
mongodb+srv://user:pass@cluster0.mongodb.net
redis://localhost:6379/0
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer ${API_TOKEN}
Authorization: Bearer YOUR_ACCESS_TOKEN
"Authorization": f"Bearer {token}"
headers["Authorization"] = "Bearer " + token
Authorization: Basic <base64>
basic authentication with bearer tokens
Bearer authentication is required
The server sends WWW-Authenticate: Basic realm="shop"
the token bucket algorithm refills 100 tokens per second
A token bucket refills at 5/s.
We draw names for secret santa on 2026-12-01.
The secret of good code is naming.
The password must be at least 12 characters
The password must be at least 12 characters, with 1 digit and 1 symbol.
the password is required
The password is hashed with argon2id before it is stored.
The password is bcrypt-hashed, cost 12.
The password is case-sensitive.
the password is stored in 1Password
the password is in /etc/shop/db.conf
the password is wrong
The password is base64url text.
| password | varchar255 | not null |
refreshed token: 2026-11-20T09:12:03.123456Z
Put the password on field9 of the form.
your password is about to expire in 14 days
The token is valid for 24h.
the token is RS256-signed
The token is a JWT.
the token is base64-encoded JSON
The API key is read from the environment.
The API key is rotated every 90 days.
The secret is 32 bytes long
Reset the password to continue.
Forgot your password? Click here.
Enter a password and confirm it.
Ask Ada for the password.
password reset, password policy, passwordless login
password manager, password-protected, password_hash
password_hash = "$2b$12$KIXQJ5lY1qk8e7fHq0vFUe"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
--- PASS: TestLogin2 (0.00s)
PASS tests/login2.test.ts
PASS: k8dns2lookup3b
pass: 12, fail: 0
compass: north2
bypass = level2
monkey: capuchin2
author: ada99
authority: x509v3
<input type="password" name="password" id="password" placeholder="Password">
<label for="password">Password</label>
<Input.Password placeholder="input password" />
.sk-fading-circle .sk-circle2 { left: 0 }
class="sk-container-id-1 sk-toggleable__label-arrow"
class="token keyword token-string2"
span.token.operator { color: #9a6e3a }
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
9fceb02 Fix the token parser
Merge: 3f2a9c1 8b7d6e5
id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301
session 550e8400-e29b-41d4-a716-446655440000
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="
resolved "https://registry.example.org/lodash/-/lodash-4.17.21.tgz#679591c564a9fb1a8a0a6c5e1f1f1f1f1f1f1f1f"
{ url = "https://files.example.org/x.whl", hash = "sha256:5df9b9d0a3e0e5f1c2b3a4d5e6f7a8b9c0d1e2f3" }
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ada@example.org
SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8
-----BEGIN PUBLIC KEY-----⏎MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE⏎-----END PUBLIC KEY-----
-----BEGIN CERTIFICATE-----⏎MIIBszCCAVmgAwIBAgIUO5q⏎-----END CERTIFICATE-----
The file begins with -----BEGIN PRIV·ATE KEY----- and ends with -----END PRIV·ATE KEY-----.
-----BEGIN RSA PRIV·ATE KEY-----⏎...⏎-----END RSA PRIV·ATE KEY-----
AKIA·ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 is too long for one.
sk-·ant-keys-start-with-this-prefix-in-the-console
AKIA is the prefix of access keys, ghp_ that of tokens, sk-ant- that of ours.
Keys look like sk-proj-… and hf_….
npm_config_registry npm_lifecycle_event npm_package_version
pypi-simple-index-with-a-very-long-and-descriptive-name-for-mirrors
re_compile_pattern_of_names = re.compile("x")
test_abc_def live_reload hf_hub_download shpat_ whsec_
auth: { user: "ada", type: "oauth2" }
auth = ("user", "pass")
credentials: include
credentials: "same-origin"
withCredentials: true
credentialsId: 'ff083f76-7804-4ef1-80e4-fe975bb9141b'
creds = load_creds()
login: function () {}
actor_login = 'simonw2'
scope=login:info+login:email
const keyStr = "ABCDEF·GHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
private_key: ed255·19.Ed25519PrivateKey
token = r"[-!#$%&'*+.^_`|~0-9a-zA-Z]+"
apikey: string, secret: Buffer, key: Uint8Array
They are identified by the number of "triads".
An access key is identified by 'id', a role identified by "name".
2026-11-20T09:12:03Z token refreshed in 132ms
kubectl create secret generic db-user-pass --from-file=./username.txt
kubectl get secret my-secret-2 -o yaml
gh secret set API_TOKEN < token.txt
aws secretsmanager get-secret-value --secret-id prod/db/main
Das Passwort ist falsch. Le mot de passe est requis.
"password": "Passwort", "token": "Zeichen"
"password": "Mot de passe"
src/auth/token.ts:42 handles the password
we chose JWT over sessions, because the token is stateless
""".strip().splitlines()


def test_every_shape_and_place_of_a_secret_is_found_and_nothing_around_it() -> None:
    found: dict[str, list[bool]] = {}
    missed = []
    for group, name, text, secret in positives():
        found.setdefault(group, []).append(is_masked(text, secret))
        if not found[group][-1]:
            missed.append(f"{group}: {name}: {text!r}")
    for group, hits in found.items():
        print(f"{group}: recall {sum(hits) / len(hits):.4f} of {len(hits)}")

    assert len(SHAPED) >= 40
    assert not missed, "\n".join(missed)


@pytest.mark.parametrize("line", NO_SECRETS)
def test_what_is_no_secret_is_left_alone(line: str) -> None:
    text = "Some words.\n" + line.replace("⏎", "\n").replace("·", "") + "\nMore words."

    assert redact(text) == text


def test_the_mask_says_what_was_there_and_leaves_the_rest() -> None:
    source = random.Random(1)
    aws, token = SHAPED["AWS"](source), SHAPED["GitLab"](source)

    assert redact(f"key {aws}, token {token}.") == (
        "key [secret removed: an AWS access key], token [secret removed: a GitLab token]."
    )
    assert redact("postgres://app:" + "s3cr3t-99@db/x") == (
        "postgres://app:[secret removed: a password in a URL]@db/x"
    )
    assert redact("redis://:" + f"s3cr3t-99@db {aws}") == (
        "redis://:[secret removed: a password in a URL]@db [secret removed: an AWS access key]"
    )
    assert redact("DB_PASSWORD=hunter2!x # old") == "DB_PASSWORD=[secret removed: a password] # old"


def test_a_private_key_is_masked_as_a_whole_however_it_is_written() -> None:
    block = SHAPED["RSA key"](random.Random(2))
    one_line = block.replace("\n", "\\n")
    quoted = block.replace("\n", "\n> ")
    cut_short = block[: block.index("=")]

    for written in (block, one_line, quoted, cut_short):
        assert redact(f"before\n{written}\nafter") == "before\n[secret removed: a private key]\nafter"


def test_a_manifest_of_secrets_keeps_its_names_and_loses_its_values() -> None:
    value = base64.b64encode(b"hunter2-and-more").decode("ascii")
    other = "---\nkind: ConfigMap\ndata:\n  greeting: SGVsbG8gd29ybGQh\n"
    manifest = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  any-name: {value}\n{other}"

    assert redact(manifest) == manifest.replace(value, "[secret removed: a secret in a manifest]")


def test_two_ways_to_one_secret_give_one_mask_with_the_vendor_s_name() -> None:
    token = SHAPED["GitHub personal"](random.Random(3))
    text = f'GITHUB_TOKEN="{token}" https://ada:{token}@github.com'

    assert [secret.kind for secret in find_secrets(text)] == ["a GitHub token", "a GitHub token"]


def test_a_secret_in_a_longer_one_is_masked_with_it() -> None:
    aws = SHAPED["AWS"](random.Random(3))

    assert redact(f'password: "x9!-{aws}-tail7"') == 'password: "[secret removed: an AWS access key]"'


def test_a_secret_is_found_at_every_offset_of_a_long_text() -> None:
    token = SHAPED["npm"](random.Random(4))
    for offset in range(3500, 4700, 7):
        text = "word " * (offset // 5) + " " * (offset % 5) + token + " and more words" * 300

        assert find_secrets(text) == [Secret(offset, offset + len(token), "an npm token")]


def test_a_long_secret_is_masked_to_its_end() -> None:
    source = random.Random(5)
    token = jwt(source) + any_of(ALNUM, 9000)(source)
    password = any_of(ALNUM, 3000, "a1!")(source)

    assert redact(f"Bearer {token} x") == "Bearer [secret removed: a JSON web token] x"
    assert redact(f"see {token} x") == "see [secret removed: a JSON web token] x"
    assert redact(f'"password": "{password}",') == '"password": "[secret removed: a password]",'
    assert redact(f"password: {password} x") == "password: [secret removed: a password] x"


def test_a_secret_that_a_mask_uncovers_is_masked_too() -> None:
    first, second = (any_of(ALNUM, 12, "a1B2")(random.Random(seed)) for seed in (1, 2))
    masked = redact(f"credentials are {first}: {second}")

    assert first not in masked and second not in masked
    assert redact(masked) == masked


def test_the_words_of_a_mask_name_no_secret_after_it() -> None:
    aws = SHAPED["AWS"](random.Random(6))

    assert redact(f"{aws}: A1b2C3d4E5f6") == "[secret removed: an AWS access key]: A1b2C3d4E5f6"


def test_a_mask_is_never_masked_itself() -> None:
    masked = "credentials are ada / A1b2C3d4E5f6<[secret removed: an AWS access key]"

    assert redact(masked).endswith("<[secret removed: an AWS access key]")


def test_letters_that_grow_in_lower_case_do_not_move_the_mask() -> None:
    assert redact("İİİ password=hunter2!x ß") == "İİİ password=[secret removed: a password] ß"


def test_a_secret_cannot_hide_in_something_like_a_mask() -> None:
    aws = SHAPED["AWS"](random.Random(6))

    assert aws not in redact(f"[secret removed: an {aws}]")


words = st.sampled_from(
    "password token api_key secret is : = == ' \" \\ \n @ :// http://ada: hunter2!x a8f3k2j9d0s7 Bearer "
    "curl -u ada:x9 [secret removed: a token] } ) , & key login x İ … ${X} <b> kind: data:".split(" ")
)


@given(st.lists(words | st.text(max_size=6), max_size=30).map("".join) | st.lists(words).map(" ".join))
def test_masking_again_changes_nothing_and_secrets_are_in_order(text: str) -> None:
    secrets = find_secrets(text)
    once = redact(text)

    assert all(0 <= secret.start < secret.end <= len(text) for secret in secrets)
    assert all(first.end <= second.start for first, second in pairwise(secrets))
    assert redact(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "key" * 67_000,
        "password=" * 22_000,
        "token: " * 28_000,
        'password="' * 20_000,
        "the password for a b c is " * 8_000,
        "eyJ-" * 50_000,
        "-----BEGIN PRIV" + "ATE KEY-----" * 25_000,
        ("-----BEGIN PRIV" + "ATE KEY-----") * 7_500,
        "http://" + "a:" * 50_000 + "a@" * 50_000,
        "curl -u a:b" * 18_000,
        "password" + " " * 200_000 + "=",
        "password='" + "\\'" * 100_000,
        "[secret removed: " * 12_000,
        base64.b64encode(random.Random(7).randbytes(150_000)).decode("ascii"),
        "The quick brown fox has 12 tokens and a password. " * 20_000,
    ],
    ids=lambda text: text[:24],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    redact(text)
    milliseconds = (time.process_time() - began) * 1000

    # FAULTS 5.5: a pattern that is quick on one page can take seconds on 200 KB of one word.
    assert milliseconds / (len(text) / 4096) < 50


def test_ordinary_text_is_read_at_two_megabytes_a_second() -> None:
    source = random.Random(8)
    vocabulary = (
        "the function returns a token when its key is found; see src/auth/session.ts:42 (`getUser`), #1234\n"
    )
    text = " ".join(source.choices(vocabulary.split(" "), k=250_000))
    find_secrets(text[:1000])
    began = time.process_time()
    find_secrets(text)

    assert len(text) / (time.process_time() - began) > 2_000_000
