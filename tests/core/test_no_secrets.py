"""What looks like a secret and is none is left alone."""

import pytest

from mcp_server.core.secrets.redaction import redact

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
The admin page is https://shop.example.org/admin/users?page=2
See https://shop.example.org/admin/orders#2026-11 for the list.
The brokers are b-1.example.com:9092,b-2.example.com:9092
Boarding pass: AC123-27B
serial number: SN-2026-0042-AB12
Product code: PRD-0042-XL99
product SKU ABCD-1234-EFGH
product: RTX-4090-24GB-OC01
signing key id: 4AEE18F83AFDEB23
a passphrase for decrypting the signing key to `Sign.sign()`
fn token() -> String
my password's length is 12
| name | password |⏎|---|---|⏎| ada | required |
name,password_changed⏎ada,2026-11-20
token:⏎  name: ci
**Token:** required
{"keypair": [1, 2, 3]}
apt,package-a,1.0-1⏎apt,passwd,1:4.13-1⏎apt,libaom3:amd64,3.6.0-1
""".strip().splitlines()


@pytest.mark.parametrize("line", NO_SECRETS)
def test_what_is_no_secret_is_left_alone(line: str) -> None:
    text = "Some words.\n" + line.replace("⏎", "\n").replace("·", "") + "\nMore words."

    assert redact(text) == text
