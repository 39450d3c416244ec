"""
Kinds written down when the rules were done, in the form of `secret_kinds`, to measure on what is new.

From the lists of kinds of gitleaks and trufflehog, and from the manuals of the programs.
"""

KINDS = r"""
adafruit                      | ADAFRUIT_IO_KEY=aio§=§_§an:28§
adobe                         | client_secret=p8§=§e-§hex:32§
algolia search                | "algolia": {"apiKey": "§hex:32§"}
alibaba secret                | ALIBABA_CLOUD_ACCESS_KEY_SECRET=§an:30§
beamer                        | beamer_api_key: b_§an:43§=
bittrex                       | BITTREX_SECRET_KEY='§hex:32§'
coinbase                      | coinbase_access_token = "§low:64§"
confluent                     | CONFLUENT_SECRET_KEY: §an:64§
cohere                        | CO_API_KEY=§an:40§
defined networking            | dn_token=dnk§=§ey-§an:26§-§an:52§
drone ci                      | DRONE_TOKEN=§low:32§
etsy                          | etsy_api_key = '§low:24§'
fastly                        | FASTLY_API_TOKEN="§url:32§"
finnhub                       | finnhub_token=§low:20§
flickr                        | FLICKR_SECRET=§hex:16§
freshbooks                    | freshbooks_access_token: §low:64§
gitter                        | GITTER_TOKEN=§low:40§
gitlab feed                   | https://gitlab.example.org/a.atom?feed_token=gl§=§ft-§an:20§
gitlab cluster agent          | gl§=§agent-§url:50§
heroku v2                     | HR§=§KU-AA§url:58§
kraken                        | kraken_private_key=§b64:80§
kucoin                        | KUCOIN_SECRET_KEY=§uuid§
looker                        | LOOKERSDK_CLIENT_SECRET=§low:24§
mattermost                    | MM_AUTH_TOKEN=§low:26§
messagebird                   | messagebird_api_token = "§low:25§"
netlify                       | NETLIFY_AUTH_TOKEN=§url:43§
nytimes                       | nytimes_secret_key: §low:32§
openshift                     | oc login --token=sha§=§256~§url:43§ --server=https://c:6443
rapidapi                      | X-RapidAPI-Key: §low:50§
sendbird                      | SENDBIRD_ACCESS_TOKEN=§hex:40§
sidekiq                       | BUNDLE_ENTERPRISE__CONTRIBSYS__COM=§!hex:8§:§hex:8§
sourcegraph                   | sg§=§p_§hex:16§_§hex:40§
squarespace                   | squarespace_token: §uuid§
sumologic                     | SUMO_ACCESS_KEY=§an:64§
yandex                        | YANDEX_API_KEY=AQ§=§VN§url:36§
zendesk                       | zendesk_secret_key = '§low:40§'
pagerduty                     | PD_TOKEN=u+§url:18§
opsgenie                      | Authorization: GenieKey §uuid§
vercel                        | vercel deploy --token §an:24§
deepseek                      | DEEPSEEK_API_KEY=s§=§k-§hex:32§
mistral                       | MISTRAL_API_KEY=§an:32§
elastic                       | Authorization: ApiKey §b64:60§==
consul                        | CONSUL_HTTP_TOKEN=§uuid§
nomad                         | X-Nomad-Token: §uuid§
gitea                         | gitea token: §hex:40§
jenkins                       | curl -u ada:§hex:34§ https://jenkins.example.org/job/a/build
matrix                        | access_token: sy§=§t_YWRh_§an:20§_§an:6§
phpmyadmin                    | $cfg['blowfish_secret'] = '§an:32§';
symfony                       | APP_SECRET=§hex:32§
phoenix                       | secret_key_base: "§b64:64§"
express session               | app.use(session({ secret: '§an:32§' }))
jwt sign                      | jwt.sign(payload, '§an:40§')
keycloak                      | KC_BOOTSTRAP_ADMIN_PASSWORD=§pw§
grafana ini                   | [security]⏎admin_user = admin⏎admin_password = §pw§
prometheus                    | basic_auth:⏎  username: prom⏎  password: §pw§
traefik                       | DO_AUTH_TOKEN: "§hex:64§"
nginx htpasswd note           | basic auth user ops, password §pw§
postfix sasl                  | [smtp.example.org]:587 ada@example.org:§pw§
fetchmail                     | poll mail.example.org user "ada" password "§pw§"
irssi                         | /msg NickServ IDENTIFY §pw§
s3cmd                         | [default]⏎access_key = AK§=§IA§up:16§⏎secret_key = §b64:40§
rclone                        | [remote]⏎type = webdav⏎pass = §an:40§
boto                          | boto3.client("s3", aws_secret_access_key="§b64:40§")
terraform provider            | provider "x" {⏎  api_token = "§an:40§"⏎}
pulumi config                 | pulumi config set dbPassword §pw§
ansible inventory             | h1 ansible_user=ada ansible_ssh_pass=§pw§
vagrant                       | config.ssh.password = "§pw§"
packer                        | "winrm_password": "§pw§"
cloud init                    | chpasswd:⏎  list: |⏎    root:§pw§
kickstart                     | rootpw --plaintext §pw§
preseed                       | d-i passwd/root-password password §pw§
unattend                      | <AdministratorPassword><Value>§pw§</Value></AdministratorPassword>
dockerfile                    | ENV DB_PASS=§pw§
systemd                       | Environment="API_SECRET=§an:32§"
crontab                       | 0 3 * * * PGPASSWORD=§pw§ pg_dump shop
makefile                      | export NPM_AUTH := §uuid§
vscode settings               | "sqltools.connections": [{"username": "sa", "password": "§pw§"}]
postman env                   | {"key": "apiToken", "value": "§an:40§", "enabled": true}
graphql                       | mutation { login(email: "ada@example.org", password: "§pw§") { id } }
form body                     | curl -d "username=ada&password=§pw§" https://example.org/login
json body                     | curl -d '{"user":"ada","password":"§pw§"}' https://example.org/login
login url                     | https://example.org/login?user=ada&pwd=§pw§
sftp url                      | sftp://ada:§pw§@files.example.org/in
ldap url                      | ldaps://cn=admin:§pw§@ldap.example.org
clickhouse url                | clickhouse://default:§pw§@ch:9000/db
imap login                    | a1 LOGIN ada@example.org "§pw§"
mysql set                     | SET PASSWORD FOR 'ada'@'%' = '§pw§';
pg create role                | CREATE ROLE app LOGIN PASSWORD '§pw§';
dbeaver tunnel                | ssh tunnel user deploy password §pw§ port 22
virsh                         | virsh set-user-password vm1 root §pw§
curl ntlm                     | curl --ntlm -u 'DOM\ada:§pw§' https://example.org
wpa cli                       | wpa_passphrase Home "§pw§"
iwctl                         | iwctl --passphrase §pw§ station wlan0 connect Home
xmllint                       | <property name="hibernate.connection.password">§pw§</property>
ssh note                      | ssh root@10.0.0.7 (pw §pw§)
english handed                | Ada's new password: §pw§ — please change it
english default               | default credentials: admin/§pw§
english account               | test account: qa@example.org, password §pw§
english it is                 | For the wiki the password should be §pw§ now.
english chat                  | psst, the pw is §pw§
german zugang                 | Zugang zum NAS: Benutzer ada, Passwort §pw§
german neues                  | Neues Passwort: §pw§
german pin                    | Die PIN lautet §dig:6§.
french nouveau                | Nouveau mot de passe: §pw§
french voici                  | Voici le mot de passe du wifi : §pw§
spanish nueva                 | Tu nueva contraseña es §pw§
portuguese nova               | A nova senha é §pw§
italian nuova                 | la nuova password è §pw§
dutch nieuw                   | Nieuw wachtwoord: §pw§
polish nowe                   | nowe hasło to §pw§
russian novyj                 | новый пароль: §pw§
chinese new                   | 新密码:§pw§
japanese new                  | 新しいパスワード:§pw§
"""
LINES = r"""
The release notes mention token §hex:8§ twice.
third pass: 12.4 ms per item
pass 2/3 took 0.41s
pass: 12.5%
moved §hex:8§ to the trash
cherry-picked §hex:12§ from main
blob §hex:40§ is 4 KiB
"etag": "\"§hex:32§\""
sha1-§b64:27§=
yarn.lock: checksum 10c0/§hex:128§
pip hash sha256:§hex:64§ mismatched
go.sum: golang.org/x/net v0.17.0 h1:§b64:43§=
correlation id §uuid§
spanId=§hex:16§
kid: "§url:27§"
thumbprint §up:40§
certificate serial 0§hex:32§
csrf token is checked on every form
the session token is rotated after login
OAuth tokens are stored encrypted with AES256-GCM
Access tokens last 1h, refresh tokens 14d.
Set the token in .env, not in code.
tokenize("a1 b2 c3")
token_count = 4096 - len(prompt)
Passwords shorter than 12 characters are refused
The password prompt comes up twice on macOS14
Change your password every 90d
the password manager is Bitwarden v2024.1
password1 and password2 must be equal
password_confirmation: required
Your PIN has 4 digits
pin the version to 3.11.4
pinned to v18.17.1
error code: 500123
area code 0711
source code: 4312 lines
Die PIN wird dreimal geprüft.
Das Passwort-Feld heißt pwd2.
Passwort ändern unter Einstellungen
Le mot de passe expire dans 30 jours
La contraseña caduca en 90 días
Hasło wygasa po 90 dniach
Пароль истекает через 90 дней
密码将在90天后过期
パスワードは90日後に期限切れになります
curl -u "$(whoami)" https://example.org
curl --user "${USER}:${TOKEN}" https://example.org
mysql --defaults-file=my.cnf -p shop
docker run -p 5432:5432 -e POSTGRES_PASSWORD=postgres postgres
docker build -t acme/api:2024.11.1 .
kubectl port-forward svc/db-2 5432:5432
kubectl logs auth-§hex:9§-§low:5§
helm repo add x https://charts.example.org
psql -U app -h db2 -p 5433
ssh -i ~/.ssh/id_ed25519 ada@h2
rsync -avzP src2/ h:dst2/
tar xzf a1.tar.gz -C /opt/b2
zip -r9 a2024.zip dir
openssl x509 -in c.pem -noout -fingerprint -sha256
openssl rand -hex 32
uuidgen | tr A-F a-f
htpasswd -c /etc/nginx/.htpasswd ada2
echo "done in 3.2s" | tee log2.txt
net start mysql80
log in as ada on host7
Log in with your GitHub account to see PR #1234
sign in using the button in v2.1
unlock the door with the code from ops
unlock with FaceID2
Connect with port 8443
user: ada / role: admin-2024
u: 3 p: 4
localhost:5432:5433
10.0.0.1:8080:a:b:c
secret sharing needs 3 of 5 keys
secretName: tls-2024-11
secret_ref: prod/db#v3
api_key_id: §uuid§
api-version: 2024-02-01
apikey: ${API_KEY}
API_KEY=$(op read op://dev/api/key)
password: !ENV ${DB_PASSWORD}
password: {{ db_password }}
password: @Value("${db.password}")
password = secrets.token_urlsafe(32)
password = Faker().password()
token = secrets.token_hex(16)
self.token = Token.objects.create(user=user2)
const token = jwt.sign(payload, process.env.JWT_SECRET);
auth = HTTPBasicAuth(user, password)
smtp.login(user, os.environ["SMTP_PASSWORD"])
login("ada", password)
mysqli_connect($host, $user, $pass, $db);
variable "admin_password" { type = string }
default = "t3.micro"
AUTH_URL=https://auth.example.org/v2
AUTH=none
cookie: consent=yes; theme=dark2
signature: the method takes 2 arguments
sig=SIGTERM
seed: 42
seed phrase is 12 words, never typed into a website
words: apple banana cherry
backup codes: print them
recovery key: see 1Password
salt = os.urandom(16)
salt: 3g, pepper: 2g
passe-partout 2024
la clave foránea es user_id2
clave: "user_id2"
parole chiave: python, sqlite3, fts5
"""
