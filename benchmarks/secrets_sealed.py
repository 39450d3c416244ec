"""
Other secrets of everyday work, in the form of `secret_kinds`: written with `secrets_met`, and looked at once.

It was measured first when the rules that `secrets_met` asked for were done. LINES are harmless.
"""

KINDS = r"""
env json                      | SERVICE_CREDENTIALS={"user":"app","password":"§pw§"}
fish                          | set -x DATADOG_API_KEY §hex:32§
powershell env                | $env:SQL_PASSWORD = "§pw§"
csh                           | setenv PGPASSWORD §pw§
yaml lower                    | smtp_pass: '§pw§'
env secret                    | SECRET="§an:50§"
devise                        | DEVISE_PEPPER=§hex:128§
strapi                        | APP_KEYS=§b64:22§==,§b64:22§==
directus                      | DIRECTUS_SECRET=§url:32§
lemon squeezy                 | LEMONSQUEEZY_WEBHOOK_SECRET=§an:32§
paddle                        | PADDLE_API_KEY=pdl_§=§live_apikey_§low:26§_§an:22§
mollie                        | MOLLIE_KEY=live_§an:30§
brevo                         | the Brevo key is xkeysib§=§-§hex:64§-§an:16§
postmark                      | POSTMARK_SERVER_TOKEN=§uuid§
mailjet                       | MJ_APIKEY_PRIVATE=§hex:32§
deepl                         | DEEPL_AUTH_KEY=§uuid§:fx
assemblyai                    | aai.settings.api_key = "§hex:32§"
deepgram                      | Authorization: Token §hex:40§
fal                           | FAL_KEY=§uuid§:§hex:32§
runpod                        | runpod key rpa_§up:40§
modal                         | MODAL_TOKEN_SECRET=as-§an:22§
wandb                         | WANDB_API_KEY=§hex:40§
kaggle                        | {"username":"ada","key":"§hex:32§"}
roboflow                      | rf = Roboflow(api_key="§an:20§")
comet                         | comet_ml.init(api_key='§an:25§')
litellm                       | general_settings:⏎  master_key: sk-§an:24§
actions with                  | uses: actions/checkout@v4⏎with:⏎    token: §hex:40§
woodpecker                    | WOODPECKER_AGENT_SECRET=§hex:64§
concourse                     | fly -t main login -u ada -p §pw§
sentry cli                    | sentry-cli login --auth-token §hex:64§
sonar scanner                 | sonar-scanner -Dsonar.token=§hex:40§
maven gpg                     | mvn deploy -Dgpg.passphrase=§pw§
gradle property               | ./gradlew publish -PossrhPassword=§pw§
vault pass file               | echo '§pw§' > .vault_pass
tf var                        | TF_VAR_db_password=§pw§ terraform apply
pulumi passphrase             | PULUMI_CONFIG_PASSPHRASE="§phrase§"
cloudformation cli            | aws cloudformation deploy --parameter-overrides DBPassword=§pw§
cdk                           | SecretValue.unsafePlainText('§pw§')
docker secret                 | printf '§pw§' | docker secret create db_pw -
kubectl set env               | kubectl set env deploy/app API_KEY=§an:32§
kubeconfig user               | users:⏎- name: admin⏎  user:⏎    username: admin⏎    password: §an:32§
helm token                    | helm upgrade dns external-dns --set provider.apiToken=§an:40§
grafana values                | adminPassword: §pw§
fluentd                       | @type elasticsearch⏎user elastic⏎password §an:20§
logstash                      | output { elasticsearch { user => "elastic" password => "§an:20§" } }
filebeat                      | output.elasticsearch.password: "§an:20§"
telegraf                      | [[outputs.influxdb_v2]]⏎token = "§url:86§=="
prometheus scrape             | basic_auth:⏎  username: prom⏎  password: §pw§
alertmanager                  | smtp_auth_password: '§pw§'
alertmanager pagerduty        | pagerduty_configs:⏎- routing_key: §hex:32§
zabbix                        | DBUser=zabbix⏎DBPassword=§pw§
keepalived                    | authentication {⏎  auth_type PASS⏎  auth_pass §an:8§⏎}
bgp                           | neighbor 10.0.0.1 password §an:16§
cisco                         | username ada privilege 15 secret 0 §pw§
ipsec                         | %any : PSK "§an:32§"
hostapd                       | wpa_passphrase=§pw§
snmpd                         | createUser ada SHA "§pw§" AES
radius client                 | client ap { ipaddr = 10.0.0.2⏎ secret = §an:24§ }
user mapping                  | CREATE USER MAPPING FOR app SERVER s OPTIONS (user 'app', password '§pw§');
change master                 | CHANGE MASTER TO MASTER_HOST='db', MASTER_USER='repl', MASTER_PASSWORD='§pw§';
primary conninfo              | primary_conninfo = 'host=db user=repl password=§pw§'
redshift copy                 | CREDENTIALS 'aws_access_key_id=AKIA§up:16§;aws_secret_access_key=§b64:40§'
database link                 | CREATE DATABASE LINK l CONNECT TO app IDENTIFIED BY "§pw§";
backup certificate            | ENCRYPTION BY PASSWORD = '§pw§'
sqlcipher                     | PRAGMA key = '§pw§';
mongo user                    | db.createUser({user: "app", pwd: "§pw§", roles: []})
cassandra                     | PlainTextAuthProvider(username='app', password='§pw§')
elastic python                | Elasticsearch(cloud_id=c, basic_auth=("elastic", "§an:24§"))
librdkafka                    | sasl.password=§an:64§
nats                          | nats://svc:§an:22§@nats:4222
nkey                          | nats seed: SUA§b32:55§
paho                          | client.username_pw_set("ada", "§pw§")
ftp python                    | FTP('ftp.example.com', 'ada', '§pw§')
nodemailer                    | auth: { user: 'ada@example.com', pass: '§pw§' }
ldap python                   | conn = Connection(server, 'cn=admin,dc=example', '§pw§')
fabric                        | connect_kwargs={"password": "§pw§"}
selenium                      | driver.find_element(By.ID, "password").send_keys("§pw§")
cypress                       | cy.get('#password').type('§pw§')
playwright                    | await page.fill('input[name=password]', '§pw§')
java setter                   | dataSource.setPassword("§pw§");
minio c#                      | .WithCredentials("ada", "§pw§")
rust                          | let jwt_secret = "§an:40§";
go const                      | const apiSecret = "§an:40§"
swift                         | let clientSecret = "§an:40§"
kotlin                        | buildConfigField("String", "API_KEY", "\"§an:32§\"")
android manifest              | <meta-data android:name="google.geo.API_KEY" android:value="AIza§url:35§"/>
plist                         | <key>ClientSecret</key>⏎<string>§an:40§</string>
ruby aws                      | Aws::Credentials.new('AKIA§up:16§', '§b64:40§')
perl                          | my $password = '§pw§';
php define                    | define('FTP_PASS', '§pw§');
mattermost hook               | https://mm.example.com/hooks/§low:26§
gotify                        | https://push.example.com/message?token=A§url:14§
pushover                      | curl -F token=§low:30§ -F user=u§!low:29§ https://api.pushover.net/1/messages.json
ntfy                          | Authorization: Bearer tk_§low:29§
victorops                     | https://alert.victorops.com/integrations/generic/20131114/alert/§uuid§/prod
datadog intake                | https://http-intake.logs.datadoghq.com/v1/input/§hex:32§
papertrail                    | X-Papertrail-Token: §an:20§
splunk                        | Authorization: Splunk §uuid§
loggly                        | https://logs-01.loggly.com/inputs/§uuid§/tag/http/
honeycomb                     | x-honeycomb-team: §an:22§
rollbar                       | Rollbar.init({accessToken: '§hex:32§'})
zoom link                     | https://zoom.us/j/§!dig:11§?pwd=§an:32§
feed token                    | https://gitlab.example.com/dashboard/projects.atom?feed_token=§url:20§
plex                          | http://plex:32400/library?X-Plex-Token=§url:20§
emby                          | X-Emby-Token: §hex:32§
maps                          | https://maps.googleapis.com/maps/api/js?key=AIza§url:35§&callback=init
infura                        | https://mainnet.infura.io/v3/§hex:32§
alchemy                       | https://eth-mainnet.g.alchemy.com/v2/§url:32§
ethereum key                  | PRIVATE_KEY=0x§hex:64§
wallet import                 | the wallet's private key is 5K§an:49§
xprv                          | xprv9§an:106§
github basic                  | curl -u ada:§hex:40§ https://api.github.com/user
django session                | Cookie: csrftoken=§!an:32§; sessionid=§low:32§
aspnet cookie                 | .AspNetCore.Cookies=CfDJ8§url:150§
wordpress cookie              | wordpress_logged_in_§!hex:32§=ada%7C1700000000%7C§an:43§%7C§hex:64§
local storage                 | localStorage.setItem('access_token', '§an:64§')
token response                | {"access_token":"§url:43§","expires_in":3600,"refresh_token":"§url:43§"}
oathtool                      | oathtool --totp -b §b32:32§
scratch codes                 | Emergency scratch codes: §dig:8§ §dig:8§ §dig:8§
recovery codes lines          | GitHub recovery codes:⏎§hex:5§-§hex:5§⏎§hex:5§-§hex:5§
german 2fa                    | 2FA-Schlüssel für AWS: §b32:32§
vsphere                       | vSphere license key: §up:5§-§up:5§-§up:5§-§up:5§-§up:5§
unity                         | UNITY_SERIAL=SC-§up:4§-§up:4§-§up:4§-§up:4§-§up:4§
p12                           | the .p12 file is protected with the password §pw§
apple p8                      | AuthKey_§!up:10§.p8:⏎§pem:PRIVATE KEY§
rsa xml                       | <RSAKeyValue><Modulus>§!b64:172§</Modulus><D>§b64:172§</D></RSAKeyValue>
zerotier                      | identity.secret: §!hex:10§:0:§!hex:128§:§hex:128§
cachix                        | CACHIX_SIGNING_KEY=§b64:86§==
english nas                   | The admin login on the NAS is ada / §pw§.
english root                  | You can get into the box with root:§pw§
english weather               | my API key for the weather service is §hex:32§
english reset                 | We reset the admin password to §pw§ yesterday.
german api                    | Der API-Schlüssel lautet §an:32§
german ftp                    | Zugangsdaten für den FTP: user ada, Passwort §pw§
german vpn                    | Der Zugangscode für das VPN ist §pw§
french api                    | La clé d'API est §an:32§
french mdp                    | identifiant ada, mdp : §pw§
spanish api                   | La clave de la API es §an:32§
spanish user                  | usuario: ada, contraseña: §pw§
italian api                   | la chiave API è §an:32§
italian login                 | credenziali: ada / §pw§
portuguese api                | chave da API: §an:32§
dutch database                | Het wachtwoord van de database is §pw§
swedish database              | Lösenordet till databasen är §pw§
danish database               | Adgangskoden til databasen er §pw§
norwegian database            | Passordet til databasen er §pw§
finnish database              | Tietokannan salasana on §pw§
czech database                | Heslo k databázi je §pw§
ukrainian database            | Пароль до бази даних: §pw§
greek database                | Ο κωδικός της βάσης είναι §pw§
romanian database             | Parola bazei de date este §pw§
hungarian database            | Az adatbázis jelszava: §pw§
russian bot                   | Токен бота: §!dig:10§:AA§url:33§
russian api                   | API-ключ: §an:32§
chinese api                   | API密钥是 §an:32§
japanese api                  | APIキー：§an:32§
korean api                    | API 키: §an:32§
arabic database               | كلمة مرور قاعدة البيانات: §pw§
hindi database                | डेटाबेस का पासवर्ड §pw§ है
vietnamese database           | Mật khẩu cơ sở dữ liệu là §pw§
thai database                 | รหัสผ่านฐานข้อมูล: §pw§
indonesian database           | Kata sandi basis data: §pw§
"""

LINES = r"""
Reverted in §hex:10§ because the build broke.
git bisect bad §hex:40§
Author-Revision: §hex:16§
fixup! §hex:9§ Rename the column
git rev-list §hex:7§...§hex:7§
cache key: linux-node-20-§hex:64§
restore-keys: v3-deps-§hex:32§
layer §hex:12§: Pull complete
digest: sha256:§hex:64§ size: 1573
container §hex:12§ exited with code 137
pod/web-§low:10§-§low:5§ was evicted
replicaset.apps/api-§low:10§ scaled to 3
uid: §uuid§
resourceVersion: "§dig:8§"
node ip-10-0-14-§dig:2§.eu-west-1.compute.internal
eks-§hex:8§ joined the cluster
job id bq-§hex:20§ took 14 s
dataset v§dig:8§-§hex:6§
checkpoint-§dig:5§/pytorch_model-00001-of-00002.bin
model: claude-sonnet-4-20250514
run-20260817_§dig:6§-§low:8§
mlflow run §hex:32§ has an f1 of .81
wandb: Syncing run electric-sunset-§dig:2§
Sentry event §hex:32§
Sentry issue SHOP-4F2 has 12 events
Cloudflare Ray ID: §hex:16§-VIE
X-Amz-Cf-Id: §url:54§==
x-goog-generation: §dig:16§
x-amz-version-id: §an:32§
Set-Cookie: theme=dark; Path=/; Max-Age=31536000
Cookie: lang=de; theme=dark
nonce-§b64:22§== is in the policy
script-src 'sha256-§b64:43§='
Sec-WebSocket-Accept: §b64:27§=
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
boundary=----WebKitFormBoundary§an:16§
Message-ID: <§hex:32§@mail.example.com>
DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=mail; bh=§b64:43§=;
v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCB§b64:180§
google-site-verification=§url:43§
_acme-challenge.example.com TXT "§url:43§"
"x5t": "§url:27§"
jwks.json: {"keys":[{"kty":"RSA","n":"§url:342§","e":"AQAB"}]}
Serial Number: 04:§hex:2§:§hex:2§:§hex:2§:§hex:2§:§hex:2§
X509v3 Subject Key Identifier: §up:2§:§up:2§:§up:2§:§up:2§:§up:2§
signature verified with key ID 0x§up:16§
BTC address bc1q§low:38§
ETH address 0x§hex:40§
tx 0x§hex:64§ was mined
ipfs://Qm§an:44§
magnet:?xt=urn:btih:§hex:40§
urn:uuid:§uuid§
{"id":"chatcmpl-§an:29§","object":"chat.completion"}
msg_01§an:22§
toolu_01§an:22§ returned an error
asst_§an:24§ has three tools
customer cus_§an:14§ has an open invoice in_§an:24§
price_§an:24§ is the monthly plan
pi_§an:24§ needs confirmation
charge ch_§an:24§ was refunded
evt_§an:24§ was delivered twice
Twilio call CA§hex:32§
Slack channel C0§up:9§, user U0§up:9§
Discord server §dig:18§, channel §dig:18§
telegram chat -100§dig:10§
Jira ABC-1423, epic ABC-1200
Trello card https://trello.com/c/§an:8§/14-fix-login
Linear issue https://linear.app/acme/issue/ENG-1423/rotate-the-token
Airtable base app§an:14§, table tbl§an:14§
Notion page §hex:32§
https://app.asana.com/0/§dig:16§/§dig:16§
https://miro.com/app/board/uXjV§url:8§=/
https://loom.com/share/§hex:32§
https://codesandbox.io/s/quirky-dawn-§low:5§
https://registry.npmjs.org/@types/node/-/node-20.11.5.tgz
https://pypi.org/packages/§hex:2§/§hex:2§/§hex:60§/demo-1.0.tar.gz
https://storage.googleapis.com/bucket/§hex:32§/report.pdf
https://images.unsplash.com/photo-§dig:13§-§hex:12§?w=800
https://www.gravatar.com/avatar/§hex:32§?s=80
https://fonts.gstatic.com/s/inter/v13/§url:60§.woff2
<script src="https://cdn.example.com/x.js" integrity="sha384-§b64:64§" crossorigin="anonymous">
<link rel="preload" href="/_next/static/media/§hex:16§-s.p.woff2">
chunk-§up:8§.js.map
App_Data/Logs/§dig:8§_error.log
core.§dig:5§ was dumped
/tmp/pytest-of-ada/pytest-§dig:2§/test_password0
/var/lib/docker/overlay2/§hex:64§/merged
/nix/store/§low:32§-python3-3.11.7/bin/python
/Users/ada/Library/Developer/Xcode/DerivedData/App-§low:28§
org.gradle.caching=true
"projectId": "§low:20§"
"measurementId": "G-§up:10§"
"orgId": "team_§an:24§", "projectId": "prj_§an:28§"
bundle id com.example.shop, team §up:10§
provisioning profile §uuid§
serial C02§up:9§
PASSWORD_MIN_LENGTH=12
TOKEN_EXPIRY=3600
SECRET_NAME=prod/app/db
SECRET_ROTATION_DAYS=90
PASSWORD_FILE=/run/secrets/pg_password
AUTH_TOKEN_HEADER=X-Auth-Token
KEY_PREFIX=daybook:cache:
ACCESS_KEY_ID=
API_KEY=<insert key>
API_TOKEN=${API_TOKEN:?is not set}
SECRET_KEY=$(openssl rand -hex 32)
SECRET_KEY = os.getenv("SECRET_KEY", "")
SECRET_KEY = config('SECRET_KEY')
token: !Ref GitHubToken
password: !Sub '{{resolve:secretsmanager:${DbSecret}:SecretString:password}}'
password = var.db_password
password = random_password.db.result
password = data.vault_generic_secret.db.data["password"]
password: process.env.DB_PASS,
password: faker.internet.password()
password: z.string().min(8)
password: String! @deprecated
"password": "string"
"password": null
"password": "********"
"password": {"type": "string", "format": "password"}
token: str | None = None
token: string;
secret: Buffer
apiKey: string | undefined
key: value
key = lambda item: item.name
key=itemgetter(1), reverse=True
sorted(words, key=str.lower)
secret_key_base is generated by the installer
tokenTypes: [comment, string, keyword]
token_count = len(encoding.encode(text))
tokens per second: 54.2
Next token prediction loss 2.184
unexpected token '}' in JSON at position 1423
CSRF token missing or incorrect.
Invalid token specified: Cannot read properties of undefined
error: password authentication failed for user "app"
Access denied for user 'app'@'10.0.0.5' (using password: YES)
fatal: could not read Password for 'https://github.com': terminal prompts disabled
Permission denied (publickey,password).
sudo: a password is required
Enter passphrase for key '/home/ada/.ssh/id_ed25519':
The password reset page times out after ten minutes.
Password strength is measured with zxcvbn.
Change your password in Settings, Security, Sign-in.
Two-factor codes are valid for thirty seconds.
Recovery codes are printed once and kept in the safe.
The secret to fast tests is a warm database.
The key to the server room hangs at the front desk.
The license key is mailed after the purchase.
The webhook secret is checked with timingSafeEqual.
Session cookies are HttpOnly and SameSite=Lax.
The session id is hashed before it is stored.
The bearer of bad news was the monitoring.
Basic authentication is disabled for the public endpoint.
Der Schlüssel liegt beim Empfang.
Das Kennwort läuft nach neunzig Tagen ab.
Le mot de passe doit contenir douze caractères.
La clé primaire est l'identifiant du client.
La clave primaria es el identificador.
La chiave primaria è composta da due colonne.
A chave estrangeira aponta para clientes.
Het wachtwoord verloopt na negentig dagen.
Lösenordet måste innehålla tolv tecken.
Hasło musi mieć co najmniej dwanaście znaków.
Ключ сортировки состоит из двух столбцов.
主键由两列组成。
密码至少十二位。
トークンの有効期限は一時間です。
비밀번호는 열두 자 이상이어야 합니다.
كلمة المرور يجب أن تكون طويلة.
Lorem ipsum: 10 tokens, 2 keys, 1 secret ingredient.
--border-radius: 12px; --shadow-key: 0 1px 2px rgba(0,0,0,.3);
.btn--primary-key { background: #§hex:8§; }
#token-list > li:nth-child(2n+1)::before { content: "\f1c0"; }
transform: matrix(0.866, 0.5, -0.5, 0.866, 0, 0);
d="M12.5 §dig:2§.25c-4.08 0-7.5 3.42-7.5 7.5s3.42 7.5 7.5 7.5z"
+49 170 §dig:7§
BIC GIBAATWWXXX, account §dig:11§
tracking number 1Z§up:16§
VIN WVWZZZ1JZ§up:8§
ORCID 0000-0002-§dig:4§-§dig:4§
§dig:13§ ms since the epoch
0.§dig:17§
§hex:2§ §hex:2§ §hex:2§ §hex:2§ §hex:2§ §hex:2§ §hex:2§ §hex:2§
BenchmarkHash-8   §dig:7§   §dig:3§ ns/op   64 B/op   2 allocs/op
"""
