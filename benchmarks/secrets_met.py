"""
Where people meet secrets, in the form of `secret_kinds`; measured before any rule was made for it.

LINES are harmless texts that look alike.
"""

KINDS = r"""
env with comment              | export DB_PASS='§pw§'  # rotate in May
env with spaces               | DB_PASSWORD = §pw§
env redis tls                 | REDIS_TLS_URL=rediss://:§an:40§@cache.example.org:6380
env mailer dsn                | MAILER_DSN=smtp://postmaster:§pw§@smtp.example.org:587
env mysql url                 | DATABASE_URL=mysql://app:§an:20§@db.internal:3306/shop?charset=utf8mb4
env sentry                    | SENTRY_AUTH_TOKEN=§hex:64§
env celery                    | CELERY_BROKER_URL="amqp://worker:§an:16§@rabbit:5672/%2F"
env elastic auth              | ELASTIC_AUTH=elastic:§an:24§
env commented out             | # SMTP_PASSWORD=§pw§
env auth0                     | AUTH0_CLIENT_SECRET=§url:64§
env clerk                     | CLERK_SECRET_KEY=sk_§=§test_§an:42§
env resend                    | RESEND_API_KEY=re_§an:8§_§an:24§
stripe restricted             | the restricted key is rk_§=§live_§an:99§
env pusher                    | PUSHER_APP_SECRET=§hex:20§
env razorpay                  | RAZORPAY_KEY_SECRET=§an:24§
dotenv vault                  | DOTENV_KEY='dotenv://:key_§hex:64§@dotenv.org/vault/.env.vault?environment=production'
env convex                    | CONVEX_DEPLOY_KEY=prod:happy-otter-123|eyJ§b64:80§
langchain old                 | LANGCHAIN_API_KEY=ls__§hex:32§
azure openai                  | AZURE_OPENAI_API_KEY=§hex:32§
gemini in code                | const ai = new GoogleGenerativeAI("AIza§url:35§");
gitlab ci variable            | variables:⏎  SONAR_LOGIN: "§hex:40§"
bitbucket pipe                | - pipe: atlassian/ftp-deploy:0.3.7⏎  variables:⏎    PASSWORD: '§pw§'
azure pipelines               | - task: SqlDeploy@1⏎  inputs:⏎    sqlPassword: '§pw§'
jenkinsfile                   | withEnv(['NEXUS_PASSWORD=§pw§']) { sh 'mvn deploy' }
circleci docker               | docker:⏎  - image: corp/app⏎    auth:⏎      username: ada⏎      password: §pw§
actions curl                  | run: curl -H "X-Api-Key: §an:32§" https://api.example.com/deploy
github runner                 | ./config.sh --url https://github.com/o/r --token §up:29§
gitlab runner                 | gitlab-runner register --registration-token §url:20§
teamcity agent                | authorizationToken=§hex:32§
compose list                  | environment:⏎  - MYSQL_ROOT_PASSWORD=§pw§
docker build arg              | docker build --build-arg NPM_TOKEN=§uuid§ .
docker run                    | docker run -d -e POSTGRES_PASSWORD=§pw§ -p 5432:5432 postgres:16
kubernetes env                | - name: JWT_SIGNING_KEY⏎  value: "§b64:43§="
dockerconfigjson              | .dockerconfigjson: §b64:120§==
argocd                        | argocd login argo.example.com --username admin --password §pw§
k3s                           | K3S_TOKEN=K10§hex:64§::server:§hex:32§
kubeadm                       | kubeadm join 10.0.0.4:6443 --token §low:6§.§low:16§ --v=5
swarm                         | docker swarm join --token SWMTKN-1-§low:50§-§low:25§ 10.0.0.2:2377
rancher                       | rancher login https://r.example.com --token token-§!low:5§:§low:54§
helm nested                   | postgresql:⏎  auth:⏎    postgresPassword: §pw§
ado                           | Server=tcp:db.example.net,1433;User ID=app;Password=§pw§;Encrypt=True;
npgsql                        | "Default": "Host=db;Database=shop;Username=app;Password=§pw§"
cosmos                        | AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=§b64:86§==;
snowflake                     | snowflake://ada:§an:18§@ab12345.eu-west-1/db/public?warehouse=wh
neo4j                         | NEO4J_URI=neo4j+s://neo4j:§url:43§@1a2b3c4d.databases.neo4j.io
couchdb                       | curl http://admin:§pw§@couch.local:5984/_all_dbs
sqlalchemy                    | engine = create_engine("postgresql+psycopg2://app:§an:14§@localhost/shop")
mongoose                      | mongoose.connect('mongodb+srv://ada:§an:16§@cluster0.ab1cd.mongodb.net/shop')
redis in code                 | r = redis.Redis(host='cache', port=6379, password='§pw§')
knex                          | connection: { host: 'db', user: 'app', password: '§pw§', database: 'shop' }
database.yml                  | production:⏎  adapter: mysql2⏎  username: app⏎  password: §pw§
go dsn                        | db, err := sql.Open("mysql", "app:§an:16§@tcp(127.0.0.1:3306)/shop")
boto3                         | client(aws_access_key_id='AKIA§up:16§', aws_secret_access_key='§b64:40§')
sts json                      | "SecretAccessKey": "§b64:40§", "SessionToken": "§b64:200§=="
gcs hmac                      | gs_secret_access_key = §b64:40§
azure principal               | {"appId": "§!uuid§", "displayName": "sp", "password": "§url:40§"}
hetzner                       | HCLOUD_TOKEN=§an:64§
linode                        | Linode personal access token: §hex:64§
vultr                         | export VULTR_API_KEY=§up:36§
scaleway                      | SCW_SECRET_KEY=§uuid§
ovh                           | application_secret=§an:32§⏎consumer_key=§an:32§
backblaze                     | B2_APPLICATION_KEY=K00§b64:28§
r2                            | R2_SECRET_ACCESS_KEY=§hex:64§
oci                           | [DEFAULT]⏎user=ocid1.user.oc1..aaaa⏎pass_phrase=§pw§
ibm cloud                     | ibmcloud login --apikey §url:44§ -r eu-de
slack trigger                 | https://hooks.slack.com/triggers/T§!up:10§/§!dig:13§/§hex:32§
make hook                     | curl https://hook.eu2.make.com/§low:32§
ifttt                         | https://maker.ifttt.com/trigger/door/with/key/§url:43§
rocket chat                   | https://chat.example.com/hooks/§!hex:24§/§an:64§
feishu                        | https://open.feishu.cn/open-apis/bot/v2/hook/§uuid§
dingtalk                      | https://oapi.dingtalk.com/robot/send?access_token=§hex:64§
wecom                         | https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=§uuid§
webhook secret                | webhook secret for the shop repository: §hex:40§
pip extra index               | --extra-index-url https://build:§an:52§@pkgs.dev.azure.com/o/_packaging/f/pypi/simple/
git clone                     | git clone https://oauth2:§url:20§@gitlab.example.com/team/app.git
x-auth-token                  | X-Auth-Token: §hex:64§
private-token                 | curl --header "PRIVATE-TOKEN: §url:20§" https://gitlab.example.com/api/v4/projects
appid                         | https://api.openweathermap.org/data/2.5/weather?q=Graz&appid=§hex:32§
websocket                     | wss://rt.example.com/socket?token=§url:40§
azure function                | https://f.azurewebsites.net/api/run?code=§b64:54§==
private calendar              | https://calendar.google.com/calendar/ical/ada%40example.com/private-§hex:32§/basic.ics
reset link                    | https://app.example.com/reset-password?token=§url:43§
fetch header                  | headers: { 'Authorization': `Bearer §url:50§` }
python header                 | headers = {"x-rapidapi-key": "§an:50§"}
trace                         | > authorization: token §hex:40§
supabase service              | SUPABASE_SERVICE_ROLE_KEY=eyJ§url:34§.eyJ§url:120§.§url:43§
netrc line                    | machine api.example.com login ada password §an:24§
npmrc scoped                  | //npm.pkg.example.com/:_authToken=§hex:40§
npmrc password                | //nexus.example.com/repository/npm/:_password=§b64:24§==
yarnrc                        | npmAuthToken: "§uuid§"
pip.conf                      | [global]⏎index-url = https://ci:§an:30§@nexus.example.com/simple
cargo credentials             | [registry]⏎token = "§an:32§"
composer                      | "http-basic": {"repo.example.com": {"username": "ada", "password": "§an:32§"}}
bundler                       | BUNDLE_RUBYGEMS__PKG__GITHUB__COM=ada:§an:40§
nuget.config                  | <add key="ClearTextPassword" value="§pw§" />
hub                           | github.com:⏎- user: ada⏎  oauth_token: §hex:40§
git-credentials               | ~/.git-credentials: https://ada:§an:40§@github.com
dsa key                       | §pem:DSA PRIVATE KEY§
service account               | "private_key": "§pem1:PRIVATE KEY§\n", "client_email": "x@y.example.com"
key in yaml                   | key: "§pem1:EC PRIVATE KEY§"
minisign                      | untrusted comment: minisign encrypted secret key⏎RWRTY0Iy§b64:200§==
ssh-keygen                    | ssh-keygen -t ed25519 -N '§pw§' -f id_deploy
english production            | The production database password is §pw§, ask Ada before you change it.
english replica               | For the read-only replica use user report with password §pw§.
english expires               | Password for the staging DB: §pw§ (expires Friday)
german database               | Das Datenbankpasswort der Produktion ist §pw§.
german kennwort               | Benutzer: report, Kennwort: §pw§
french database               | Le mot de passe de la base de production est §pw§.
spanish database              | La contraseña de la base de datos es §pw§
italian database              | La password del database di produzione è §pw§
portuguese database           | A senha do banco de dados é §pw§
polish database               | Hasło do bazy danych: §pw§
russian database              | Пароль к базе данных: §pw§
chinese database              | 数据库密码：§pw§
japanese database             | データベースのパスワードは §pw§ です
korean database               | 데이터베이스 비밀번호는 §pw§ 입니다
turkish database              | Veritabanı şifresi: §pw§
curl cookie                   | curl -b 'PHPSESSID=§low:26§' https://app.example.com/
connect.sid                   | connect.sid=s%3A§url:32§.§b64:43§
jsessionid                    | Cookie: JSESSIONID=§up:32§
document.cookie               | document.cookie = "auth_token=§hex:64§"
totp seed                     | 2FA seed for the AWS root account: §b32:32§
pyotp                         | print(pyotp.TOTP("§b32:32§").now())
setup key                     | Authenticator setup key: §b32:16§
windows key                   | Windows product key: §up:5§-§up:5§-§up:5§-§up:5§-§up:5§
license env                   | LICENSE_KEY=§up:8§-§up:8§-§up:8§
font awesome                  | FONTAWESOME_PACKAGE_TOKEN=§uuid§
openai legacy                 | export OPENAI_API_KEY="sk-§an:48§"
launch.json                   | "env": { "API_TOKEN": "§an:36§" }
mcp json                      | "mcpServers": {"gh": {"env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_§an:36§"}}}
mcp args                      | "args": ["-y", "some-server", "--api-key", "§an:32§"]
msmtprc                       | account work⏎user ada⏎password §pw§
mutt                          | set imap_pass = "§pw§"
weechat                       | /set irc.server.libera.sasl_password "§pw§"
syncthing                     | <apikey>§an:32§</apikey>
home assistant                | wifi_password: §pw§
esphome                       | api:⏎  encryption:⏎    key: "§b64:43§="
zigbee2mqtt                   | mqtt:⏎  server: mqtt://broker⏎  user: z2m⏎  password: §pw§
ddclient                      | login=ada⏎password='§pw§'
duckdns                       | https://www.duckdns.org/update?domains=x&token=§uuid§
filezilla                     | <Pass encoding="base64">§b64:16§</Pass>
anydesk                       | AnyDesk unattended password: §pw§
pg_service                    | [prod]⏎host=db⏎user=app⏎password=§pw§
rails credentials             | secret_key_base: §hex:128§
gpg fd                        | echo '§pw§' | gpg --batch --passphrase-fd 0 -d notes.gpg
"""

LINES = r"""
commit §hex:40§
Merge commit '§hex:8§' into release/2.4
HEAD is now at §hex:7§ Fix the flaky test
git show §hex:12§:src/app.py
index §hex:7§..§hex:7§ 100644
diff --git a/token.py b/token.py
refs/pull/214/head at §hex:40§
From §hex:40§ Mon Sep 17 00:00:00 2001
Co-Authored-By: Ada <ada@example.com>
sha256:§hex:64§
FROM python:3.11-slim@sha256:§hex:64§
image: ghcr.io/corp/app@sha256:§hex:64§
§hex:64§  dist/app-1.2.3.tar.gz
MD5 (backup.zip) = §hex:32§
SHA1 fingerprint: §hex:40§
SHA256:§b64:43§ ada@laptop (ED25519)
"integrity": "sha512-§b64:86§=="
integrity sha512-§b64:86§==
resolved "https://registry.yarnpkg.com/left-pad/-/left-pad-1.3.0.tgz#§hex:40§"
checksum = "§hex:64§"
content-hash = "§hex:64§"
hash = "sha256:§hex:64§"
--hash=sha256:§hex:64§ \
etag: W/"§hex:32§"
ETag "§hex:32§-5" of the multipart upload
Content-MD5: §b64:22§==
x-amz-request-id: §up:16§
x-request-id: §uuid§
traceparent: 00-§hex:32§-§hex:16§-01
trace_id=§hex:32§ span_id=§hex:16§
"correlationId": "§uuid§"
The run §uuid§ failed after 3 minutes.
user_id: §uuid§
order 0§dig:9§ was refunded
tenant id §uuid§, region westeurope
subscription: §uuid§
arn:aws:iam::§dig:12§:role/deploy
arn:aws:secretsmanager:eu-west-1:§dig:12§:secret:prod/db-AbCdEf
vpc-§hex:17§ has no route to subnet-§hex:17§
ami-§hex:17§ is the new base image
i-§hex:17§ was stopped
projects/my-app/secrets/db-password/versions/3
/subscriptions/§uuid§/resourceGroups/prod
https://drive.google.com/file/d/1§url:32§/view
https://docs.google.com/document/d/1§url:43§/edit
https://www.figma.com/file/§an:22§/Design-System
https://www.youtube.com/watch?v=§url:11§
https://example.notion.site/Roadmap-§hex:32§
https://github.com/corp/app/commit/§hex:40§
https://github.com/corp/app/blob/§hex:40§/src/token.ts#L14
https://gist.github.com/ada/§hex:32§
https://stackoverflow.com/questions/§dig:8§/how-to-hash-a-password
https://play.golang.org/p/§an:11§
https://cdn.example.com/assets/app.§hex:8§.js
/static/css/main.§hex:8§.chunk.css
src/assets/icon-§hex:20§.svg
dist/index-§url:8§.js   142.13 kB
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA§b64:120§==
data:font/woff2;base64,d09GMgABAAAAA§b64:160§
<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP§b64:40§=" />
background: url(data:image/svg+xml;base64,PHN2ZyB4bWxucz0i§b64:80§)
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI§b64:43§ ada@laptop
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ§b64:340§ ada@desk
github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI§b64:43§
age1§low:58§ is the recipient
PublicKey = §b64:43§=
"kty": "EC", "crv": "P-256", "x": "§url:43§", "y": "§url:43§"
"kid": "§url:27§", "alg": "RS256"
-----BEGIN CERTIFICATE-----⏎MIID§b64:60§⏎§b64:64§⏎-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----⏎MIIB§b64:60§⏎§b64:64§⏎-----END PUBLIC KEY-----
gpg: key §up:16§: public key "Ada" imported
Primary key fingerprint: §up:4§ §up:4§ §up:4§ §up:4§ §up:4§
Fingerprint: 3A:4F:§up:2§:§up:2§:§up:2§:§up:2§:§up:2§:§up:2§
DB_PASSWORD=
DB_PASSWORD=${DB_PASSWORD}
DB_PASSWORD=$(op read op://prod/db/password)
DB_PASSWORD=<your password here>
DB_PASSWORD=changeme
DB_PASSWORD=your-password-here
API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx
API_KEY=YOUR_API_KEY
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
AWS_SECRET_ACCESS_KEY=****************
STRIPE_SECRET_KEY={{ stripe_secret_key }}
password: "{{ vault_db_password }}"
password: ${{ secrets.REGISTRY_PASSWORD }}
token: ${{ github.token }}
password: !vault |
password: ENC[AES256_GCM,data:§b64:20§,iv:§b64:43§=,tag:§b64:22§==,type:str]
valueFrom:⏎  secretKeyRef:⏎    name: db⏎    key: password
password = os.environ["DB_PASSWORD"]
password = getpass.getpass("Password: ")
const token = await getAccessToken();
const secret = process.env.JWT_SECRET;
let token = req.headers.authorization.split(' ')[1];
token = tokenizer.next_token()
tokens = text.split()
if (password !== confirmPassword) return;
password_hash = bcrypt.hashpw(password, bcrypt.gensalt())
def check_password(user, password):
public string Password { get; set; }
password: str = Field(min_length=12)
password VARCHAR(255) NOT NULL,
ALTER TABLE users ADD COLUMN password_reset_token TEXT;
SELECT token FROM sessions WHERE user_id = 42;
<input type="password" name="password" autocomplete="current-password">
<label for="password">Password</label>
input[type="password"] { border-color: #§hex:6§; }
.token-string { color: #a3be8c; }
--color-secret: #§hex:6§;
background: linear-gradient(90deg, #§hex:6§, #§hex:6§ 60%);
max_tokens=4096
"usage": {"prompt_tokens": 1523, "completion_tokens": 210, "total_tokens": 1733}
The tokenizer splits identifiers at underscores.
The token bucket refills 20 tokens per second.
The key insight is that the cache is keyed by path.
Primary key (tenant_id, created_at)
Press the key Ctrl+Shift+P and type Reload.
The password must have at least 12 characters and one digit.
Passwords are hashed with argon2id, m=65536, t=3, p=4.
$argon2id$v=19$m=65536,t=3,p=4 is the prefix of the new hashes.
Forgot your password? Click the link in the mail.
The password field is empty after a failed login.
We rotate the database password every 90 days.
Ask Ada for the password of the staging database.
The secret is stored in AWS Secrets Manager under prod/db.
The API key is read from the keychain at start.
Never commit the token; put it into .env.local.
Das Passwort steht im Passwortmanager unter Produktion.
Das Passwort muss mindestens zwölf Zeichen haben.
Le mot de passe est stocké dans le coffre de l'équipe.
La contraseña está en el gestor del equipo.
La password va cambiata ogni novanta giorni.
A senha fica no cofre da equipe.
Пароль хранится в менеджере паролей команды.
密码保存在团队的保险库里。
パスワードは保管庫にあります。
Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.
IMG_20240817_§dig:6§.jpg
Screenshot 2026-11-02 at 14.03.11.png
backup-2026-11-02T03-00-00Z-§hex:8§.sql.gz
node_modules/.cache/babel-loader/§hex:32§.json
~/.cache/pip/http/a/b/c/§hex:56§
v1.29.3-eks-§hex:7§
postgres://localhost:5432/shop
postgres://user:password@localhost:5432/mydb
redis://localhost:6379/0
http://localhost:3000/login?next=/settings
https://user@example.com/path
smtp://mail.example.com:587
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
curl -u "$USER:$PASSWORD" https://example.com
curl -H "X-Api-Key: $API_KEY" https://example.com
docker login -u ada --password-stdin registry.example.com
ssh -i ~/.ssh/id_ed25519 deploy@10.0.0.4
mysql -u root -p shop < dump.sql
export PATH="$HOME/.local/bin:$PATH"
JAVA_OPTS="-Xmx2g -XX:+UseG1GC"
UUID=§uuid§ / ext4 defaults 0 1
MAC address 3c:22:fb:§hex:2§:§hex:2§:§hex:2§
IBAN AT§dig:18§
ISBN 978-0-13-§dig:6§-§dig:1§
doi:10.1145/§dig:7§.§dig:7§
CVE-2024-§dig:5§ is fixed in 3.0.14
GA tracking id G-§up:10§
pk_test_ keys may be public; pk_live_§an:24§ is in the page.
base64 of "hello world" is aGVsbG8gd29ybGQ=
regex: ^[A-Za-z0-9_-]{43}$
0x§hex:40§ is the contract
§hex:8§-dead-beef is a made-up id
Lines 120-188 of auth/session.ts decide when the cookie is renewed.
TypeError: Cannot read properties of undefined (reading 'token')
FAILED tests/test_auth.py::test_password_reset_token_expires - AssertionError
Access token lifetime: 3600 seconds, refresh token: 30 days.
pass: 118, fail: 2, skipped: 4
secretName: registry-credentials
passwordFile: /run/secrets/db_password
keyFile = "/etc/ssl/private/server.key"
ssl_certificate_key /etc/nginx/ssl/example.key;
"""
