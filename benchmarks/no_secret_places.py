"""The second half of `no_secret_kinds`: commands, addresses, settings and code without a secret."""

LINES = r"""
docker login --password-stdin
docker run -p 8080:80 nginx
docker compose -p shop2024 up
mkdir -p src/auth2
ssh -p 2222 ada@host
scp -P 2222 a.txt ada@host:
cp -p a1.txt b2.txt
ldapsearch -x -W -b dc=x
redis-cli -p 6380 ping
redis-cli -h cache -a "$REDIS_PASSWORD" ping
7z x -oout archive2.7z
zip -r out2.zip dir
unzip -p in.zip file2.txt
kubectl create secret generic db --from-file=./pw.txt
kubectl create secret tls web --cert=a.crt --key=b.key
kubectl get secret db -o jsonpath='{.data.password}'
helm install x --set auth.existingSecret=db-creds-2
helm upgrade x --set image.tag=§hex:7§
vault kv get -field=password secret/db
vault login -method=oidc
az login --use-device-code
aws secretsmanager get-secret-value --secret-id prod/db-1
gh auth login --with-token < token.txt
git remote add origin https://github.com/acme/shop.git
git remote set-url origin git@github.com:acme/token-service.git
gpg --passphrase-file p.txt -d a.gpg
gpg: key §up:16§ marked as trusted
gpg --recv-keys 0x§up:16§
net use Z: \\srv\share /persistent:yes
net user ada /delete
ansible-vault encrypt_string --name db_password
$ANSIBLE_VAULT;1.1;AES256⏎§hex:80§
sudo -S true < pw.txt
echo "$PASSWORD" | sudo -S true
echo "password changed" | mail ada
passwd ada
Log in to Grafana as admin with your SSO account
Log in to Grafana with Chrome 119
Log in as admin with the password from 1Password
Sign in with GitHub or Google2FA
login as root with ssh-ed25519
log in with SAML2 instead
Use pnpm10 as the package manager.
Use Python3.11 as the base
username: ada99
user: ada, role: admin2
user: ada / team: core-2
credentials are in ~/.aws/credentials
credentials: same-origin
the credentials file has 2 profiles: default, prod-eu1
login: ada99 / admin
at 10.0.0.5:5432:app
localhost:5432:shop:app
db:5432:shop:app:
~/.pgpass has the form hostname:port:database:username:password
~/.pgpass must have mode 0600
lines like a:1:b:c:d
12:30:45:500 took 3ms
https://example.org:8080/a:b
https://example.org/reset-password?step=2
https://example.org/?page_token=§low:3§
https://example.org/docs/tokens#section-2.3
https://user@example.org/x
https://github.com/acme/shop/commit/§hex:40§
https://github.com/acme/shop/blob/§hex:40§/auth.py#L12
https://hooks.slack.com/services/T000/B000/XXXX
https://discord.com/api/webhooks/ID/TOKEN
https://cdn.example.org/app.§hex:8§.js
https://b.s3.amazonaws.com/f?versionId=§an:20§
https://fonts.example.org/s/v1/§url:40§.woff2
https://www.youtube.com/watch?v=§url:11§
https://docs.google.com/document/d/1§url:43§/edit
https://example.org/?utm_source=a&gclid=§url:40§
otpauth://totp/NAME?secret=SECRET
seed phrase: write it on paper and keep it in a safe place away from fire
The recovery phrase has 12 or 24 words from the BIP39 list.
mnemonic: a pattern of letters that helps you to remember something long
abandon ability able about above absent absorb abstract absurd abuse access accident
abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about
seed = 20261120
random seed: §dig:8§
np.random.seed(§dig:5§)
tags: postgres redis docker python typing async cache queue retry tests deploy
keywords: memory agent plugin search index vector recall markdown sqlite hooks
salt: 2 tsp, pepper: 1 tsp
pepper: none, salt: to taste
salted caramel, 500g
knowledge base = docs/2024
database=shop_v2
base: main...feature-2b
base64 = §b64:12§
database: shop2024
DATABASE_NAME=shop_prod_2
KEY_VAULT_NAME=kv-prod-2
SECRET_NAME=prod/db-2
TOKEN_TTL=15m
TOKEN_ISSUER=https://auth.example.org
PASSWORD_MIN_LENGTH=12
COOKIE_NAME=sid_v2
JWT_ALGORITHM=RS256
JWT_AUDIENCE=api://shop-2
AWS_REGION=eu-west-1
AWS_PROFILE=prod-eu1
AWS_ACCOUNT_ID=§dig:12§
arn:aws:kms:eu-west-1:§dig:12§:key/§uuid§
arn:aws:secretsmanager:eu-west-1:§dig:12§:secret:db-§an:6§
GCP_PROJECT=shop-prod-§dig:6§
client_id: §dig:12§-§low:32§.apps.googleusercontent.com
clientId = "§uuid§"
tenant_id=§uuid§
app_id: §hex:24§
user_id=§hex:24§
"_id": "§hex:24§"
order id §up:10§
tracking §dig:12§
invoice INV-2026-§dig:5§
ticket SHOP-§dig:4§ is about the login token
build-§dig:14§
version 1.2.3-rc.1+§hex:7§
node v20.11.1, npm 10.2.4
chrome/119.0.6045.105
lib_§low:6§.so.2
libssl3 3.0.11-1~deb12u2
file_§hex:8§.tmp
/tmp/pytest-of-ada/pytest-§dig:2§/test_password_reset0
/var/lib/docker/overlay2/§hex:64§/merged
container §hex:12§ exited 137
pod web-§hex:10§-§low:5§ restarted
Pod auth-token-service-§hex:10§-§low:5§ is ready
0x§hex:40§
tx 0x§hex:64§
segfault at §hex:16§
MAC §hex:2§:§hex:2§:§hex:2§:§hex:2§
ipv6 2001:db8::§hex:4§
#§hex:6§ is the brand colour
#define SECRET_LEN 32
#define MAX_PASSWORD 128
const TOKEN_RE = /^[a-z0-9]{32}$/;
re.compile(r"password=(\S+)")
r"(?i)api[_-]?key\s*[:=]\s*['\"]?([a-z0-9]{32})"
grep -rn "password" src/ | wc -l
rg -n 'secret|token' --glob '!*.lock'
secrets: inherit
secret: false
secret: my-tls-cert-2
secretName: letsencrypt-prod-v2
imagePullSecrets: [regcred2]
existingSecret: pg-creds-v2
kind: Secret⏎metadata:⏎  name: db-v2⏎type: Opaque
kind: ConfigMap⏎data:⏎  key: §b64:20§
valueFrom: { secretKeyRef: { name: db, key: password-v2 } }
token_endpoint: https://auth.example.org/oauth2/v2/token
token_type=bearer&expires_in=3600
grant_type=password&scope=openid
"token": "string"
"token": null, "expires": 3600
export type Token = { kind: TokenKind; text: string }
enum TokenKind { Ident, Number2, StringLit }
token.kind == TokenKind.Ident2
def test_password_reset_sends_mail_v2():
class PasswordResetTokenGenerator2:
from auth.tokens import TokenV2
import { useAuth2 } from "@/lib/auth2";
<input type="password" autocomplete="new-password" minlength="12">
type Password string `json:"password" validate:"min=12"`
`password` VARCHAR(255) NOT NULL,
ALTER TABLE users ADD COLUMN password_v2 text;
SELECT password FROM users WHERE id = §dig:5§;
UPDATE users SET password = crypt($1, gen_salt('bf', 12));
CREATE USER ada WITH PASSWORD :'pw';
IDENTIFIED BY ?
GRANT ALL ON shop.* TO 'app'@'%';
$2b$12$§url:53§
{SSHA}§b64:32§
root:$6$§an:8$:19000:0:99999:7:::
admin:$apr1$§an:8§$§an:22§
The PIN diode is 1N4007.
pin 13 is the LED, pin 8 the reset
pin: 4.2.1
PIN code must have 4 to 6 digits.
GPIO pin: 21
pinned version: 3.11.4
error code 40312
exit code: 137
zip code: 90210
country code: +49
status code is 404
code: E1234
The code is 12 lines long.
The door opens at 0830.
alarm code path is alarm.py
promo code SUMMER24
backup codes are kept in the safe
recovery code: see the vault
cookie: theme=dark; lang=de
Set-Cookie: theme=dark; path=/
Cookie: _ga=GA1.2.§dig:9§.§dig:10§
session cookie lasts 14d
sessionId = uuid4()
"d": "2026-11-20", "x": "12"
"kty":"RSA","n":"§url:86§","e":"AQAB"
User ada on host db-2 has 3 sessions
user ada on build7 ran pass 2
auth: none
auth = TokenAuth2(session)
auth=("user", "pass")
the auth service v2.3.1 is up
AUTH LOGIN PLAIN
auth failed for ada2 from 10.0.0.7
We use key rotation every 90d.
key insight: O(n log2 n)
The key is user_id2, not email.
the key to it is patience
key press: Ctrl+Shift+P
keys: a1, b2, c3
API key auth was replaced by OAuth2.
The API key is sent as X-Api-Key.
the API key is valid for 30d
API keys start with sk_live_ or sk_test_
The secret is that it caches §dig:3§ rows.
Shamir's secret sharing, 3-of-5
The secret is stored under prod/api-2.
§words:3§ password §words:3§ token
https://a.example.org/login?next=%2Freset%3Ftoken%3D%7Btoken%7D
https://a.example.org/authorize?next=%2Fcb%3Fgrant_type%3Dpassword%26scope%3Dread
return_to=%2Fsettings%2Ftokens%3Fpage_token%3D§an:32§%26sort_key%3Dname
payload=%7B%22password%22%3A%22string%22%2C%22token%22%3A%22YOUR_TOKEN%22%7D
scope=repo%3Astatus%20token%3Aread%3Apackages
https://a.example.org/?q=password%3Dpassword%20reset
https://a.example.org/?next=%2Fedit%3Fcsrf_token%3D§hex:40§
{"value": "8080", "name": "PORT"}, {"value": "true", "name": "RESET_PASSWORD"}
{"value": "§an:32§", "name": "COMMIT_OF_BUILD"}
{"value": "§hex:40§", "name": "idempotency_key"}
[{"name": "BUILD_ID", "value": "§hex:40§"}, {"name": "API_TOKEN", "valueFrom": {"secretKeyRef": "api"}}]
[{"id": "a", "value": "§hex:40§"}, "password"]
{"value": "Passwort eingeben", "name": "password"}
{"value": "Kennwort", "key": "password"}
{"value": "${DB_PASSWORD}", "name": "DB_PASSWORD"}
{"value": "arn:aws:secretsmanager:eu-west-1:1:secret:db", "name": "DB_PASSWORD"}
Password⏎confirm_password2
## Password⏎⏎bcrypt-12
Token⏎refresh_token⏎access_token
## Token⏎⏎src/auth/token2.py
API key⏎X-Api-Key
**Password**⏎`users.password_hash_v2`
## Secret⏎⏎https://vault.example.org/v1/secret2
Password:⏎- at-least-12-characters
Password:⏎> ${DB_PASSWORD}
Reset the password⏎PR-1234
Rotate the token⏎§hex:40§
token⏎sha256:§hex:64§
Password⏎AuthController#reset2
Rotate token⏎§hex:40§
Renew password⏎JIRA-2041
## Secret⏎⏎1.2.3-rc4
Password⏎p.12-14
token⏎2026-11-28T10:00:00Z
**API key**⏎docs/api-keys.md#rotation-2
Password⏎test_password_2_is_hashed
# Token⏎⏎@types/node@20.1.2
Password⏎src/users/password_v2.py
# Passwords⏎⏎Argon2id-v19
API key⏎acme/api-keys-v2@1.2.0
"""
