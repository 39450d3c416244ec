"""What looks like a secret and is none, one a line, in the form of `secret_kinds`; the marks only vary it."""

LINES = r"""
second pass: 3.1s
first pass: 2m13s, second pass: 41s
pass 3: 0.8ms
pass rate: 98.2%
Title of a note: token §hex:10§
Fix the parser of the token §hex:7§
rename auth token §hex:8§ in memory
the secret of §hex:12§ was a typo
commit §hex:40§
Revert "Add password reset" (§hex:7§)
git show §hex:9§:src/auth/password.py
index §hex:7§..§hex:7§ 100644 secrets.yaml
tree §hex:40§ parent §hex:40§
password-§uuid§ is the id of the memory
memory auth-token-expiry-§low:4§ was recalled
key: §uuid§
request_id=§uuid§ token refreshed
session §uuid§ ended
idempotency key §uuid§
"sha": "§hex:40§"
sha256:§hex:64§
sha512-§b64:86§==
"integrity": "sha512-§b64:86§=="
h1:§b64:43§=
md5: §hex:32§
ETag: W/"§hex:32§"
checksum = "§hex:64§"
--hash=sha256:§hex:64§ \
image: ghcr.io/acme/token-service@sha256:§hex:64§
image: acme/auth:1.4.2-§hex:7§
digest: §hex:64§
fingerprint SHA256:§b64:43§
host key fingerprint is SHA256:§b64:43§.
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI§b64:43§ ada@host
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ§b64:180§ ada
github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI§b64:43§
|1|§b64:27§=|§b64:27§= ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ§b64:180§
[Peer]⏎PublicKey = §b64:43§=
public key: §b64:43§=
age1§low:58§
"publicKey": "§b64:60§"
x-amz-request-id: §up:16§
X-Amz-Credential=AKID%2F20261101%2Feu-west-1%2Fs3%2Faws4_request
trace_id §hex:32§ span_id §hex:16§
traceparent: 00-§hex:32§-§hex:16§-01
build §dig:6§ passed: 1204 tests, 3 skipped
pass: 1204
tests pass: 12/12
PASS  src/token.test.ts (5.2 s)
nonce-§b64:22§
etag §hex:16§ for key users/§dig:6§
cache key: user:§dig:6§:profile
key=value
key = lambda row: row.created_at
primary key (tenant_id, user_id)
sort key: §dig:4§-§low:3§
public api key is safe to show: pk_test
max_tokens=4096, temperature=0.2
prompt_tokens: 18231, completion_tokens: 402
tokens per second: 83.4
The prompt has 1200 tokens and costs $0.02
tokens: 128k context
token count §dig:5§
token limit is 200k
the token expires after 15 minutes
the token expires at 2026-11-20T09:12:03Z
Tokens rotate every 24h; refresh tokens live 30d.
the access token lives in localStorage under auth.v2
Use a token from the settings page.
The token must be sent as a header.
a token is a pair of kind and text
The lexer's next token is IDENT or NUMBER
each token[0] is the start
token bucket of 100/s
the password must have 12 characters
The password must contain 1 digit, 1 upper-case letter and 1 of !@#$%.
password must match ^[A-Za-z0-9!@#$]{12,}$
password policy: min. 14 chars, 90d rotation
Passwords are hashed with argon2id, m=64MiB, t=3.
We moved password hashing from bcrypt10 to argon2id.
Password reset e-mails go out via SES v2.
password field is id="login_pw2"
Ask ops for the password; it is in 1Password under "Staging v2".
The password is in the vault, path kv/prod/db-2.
the root password is kept in the safe, room B12
Don't put passwords in the repo.
the password was rotated on 2026-11-02
The password was wrong 3 times, so the account was locked for 15m.
password strength: zxcvbn score 3/4
The user's password is never logged.
Das Passwort muss mindestens 12 Zeichen haben.
Das Passwort steht im Tresor, Fach 7b.
Das Passwort wird mit argon2id gehasht.
Das Kennwort läuft nach 90 Tagen ab.
Passwort vergessen? Hier klicken.
Le mot de passe doit contenir 8 caractères.
Le mot de passe est stocké dans Vault v1.15.
mot de passe oublié : cliquez ici
La contraseña debe tener 10 caracteres.
La contraseña se guarda en el archivo de configuración.
la clave primaria es user_id
clave: valor
A senha deve ter 8 caracteres.
la password scade dopo 90 giorni
La password deve avere 12 caratteri
Het wachtwoord moet 12 tekens hebben.
het wachtwoord verloopt na 90 dagen
Hasło musi mieć 8 znaków.
Пароль должен содержать 8 символов.
Пароль хранится в Vault.
пароль не подходит
パスワードは12文字以上です
パスワードを忘れた場合
密码必须至少8个字符
密码错误
Şifre en az 8 karakter olmalı
Lösenordet måste ha 12 tecken.
비밀번호는 8자 이상이어야 합니다
password = get_password()
password = getpass("Password: ")
password = prompt('Enter password for %s' % user)
password = hash(password)
password_hash = hashlib.sha256(password.encode()).hexdigest()
if not check_password(user.password, password):
if password == "":
self.password = bcrypt.hash(password, rounds=12)
const hashed = await bcrypt.hash(password, 12);
const { password, ...rest } = user;
password: Joi.string().min(8).required(),
password: faker.internet.password({ length: 20 }),
password := os.Getenv("DB_PASSWORD")
password, err := readPassword(fd)
String password = System.getenv("DB_PASSWORD");
private final PasswordEncoder passwordEncoder;
char *password = getpass("Password: ");
let password = rpassword::read_password()?;
$password = $_POST['password'];
$password = password_hash($plain, PASSWORD_BCRYPT);
password = Rails.application.credentials.db[:password]
password: <%= ENV["DB_PASSWORD"] %>
password: {{ .Values.db.password }}
password: {{ lookup('env', 'DB_PASSWORD') }}
password = var.db_password
password = data.aws_secretsmanager_secret_version.db.secret_string
password = random_password.db.result
default = var.default_password
variable "db_password" { type = string, sensitive = true }
variable "password_length" { default = 24 }
variable "secret_name" { default = "prod/db/main" }
variable "token_ttl" {⏎  default = "24h"⏎}
variable "db_password_file" { default = "/run/secrets/db" }
password: ${DB_PASSWORD}
password: "${db.password}"
password: $(DB_PASSWORD)
password: ENC(§b64:44§)
password: !secret wifi_password
password: <password>
password: <your-password-here>
password: changeme
password: CHANGE_ME
password=xxxxxxxx
password=********
PASSWORD=your-password
DB_PASSWORD=<set in CI>
API_KEY=xxxx-xxxx-xxxx
api_key: YOUR_API_KEY
api_key = "<API_KEY>"
token: ${{ secrets.GITHUB_TOKEN }}
token: $CI_JOB_TOKEN
token = "your-token-here"
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer {{token}}
Authorization: Basic <credentials>
authorization: required
WWW-Authenticate: Bearer realm="api", error="invalid_token"
curl -u "$USER:$PASS" https://example.org
curl -u user:pass https://example.org
curl -u $(cat user):$(cat pw) https://example.org
curl -H "Authorization: Bearer $(gcloud auth print-access-token)" https://x
mysql -u root -p
mysql -u root -p shop < dump.sql
mysql -u root -p"$MYSQL_PWD" shop
mysqldump -ppassword db
psql "postgres://$USER:$PASS@host/db"
psql -h db -U app -p 5432
sshpass -e ssh ada@host
sshpass -f pw.txt ssh ada@host
htpasswd -c users.txt admin
htpasswd -nbB admin "$PW"
openssl rsa -in key.pem -passin env:KEY_PASS
openssl rsa -in key.pem -passin file:pass.txt
openssl enc -aes-256-cbc -pbkdf2 -in a -out b
"""
