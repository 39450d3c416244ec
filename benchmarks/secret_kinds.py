"""
Kinds of secrets, written down from what scanners of repositories and vendors document.

One kind a line: a name, then where people leave it. `§pw§` is a password, `§an:40§` forty letters and digits
(`hex`, `low`, `up`, `b64`, `url`, `dig`, `let` likewise), ⏎ a line break. What the marks become is the
secret, but for `§!hex:40§`, and `§=§` is nothing: it keeps scanners from taking a prefix for a secret.
"""

KINDS = r"""
# keys and tokens with a shape of their own
aws access key                | key id AK§=§IA§up:16§ in use
aws secret key                | aws_secret_access_key = §b64:40§
aws session token             | AWS_SESSION_TOKEN=§b64:300§
github classic                | remote uses gh§=§p_§an:36§
github app installation       | gh§=§s_§an:36§ expires soon
gitlab pat                    | PRIVATE-TOKEN: gl§=§pat-§an:20§
gitlab deploy                 | gl§=§dt-§an:20§
slack bot                     | SLACK=xo§=§xb-§dig:12§-§dig:12§-§an:24§
slack app                     | xa§=§pp-1-A§up:10§-§dig:13§-§hex:64§
stripe live                   | stripe.api_key = "sk§=§_live_§an:24§"
stripe webhook                | endpoint secret wh§=§sec_§an:32§
openai project                | sk-§=§proj-§url:120§
anthropic                     | sk-§=§ant-api03-§url:93§AA
google api                    | maps?key=AI§=§za§url:35§
google oauth client           | "client_secret": "GOC§=§SPX-§url:28§"
google refresh                | 1//0§=§§url:60§
azure storage                 | AccountName=a;AccountKey=§b64:86§==;EndpointSuffix=core.windows.net
azure client secret           | AZURE_CLIENT_SECRET=§an:3§8Q~§url:34§
azure sas                     | https://a.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=§an:43§%3D
azure service bus             | Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=r;SharedAccessKey=§b64:43§=
digitalocean                  | do§=§p_v1_§hex:64§
heroku uuid                   | HEROKU_API_KEY=§uuid§
npm                           | //registry.npmjs.org/:_authToken=np§=§m_§an:36§
npm legacy auth               | //registry.npmjs.org/:_auth=§b64:40§
pypi                          | password = py§=§pi-AgEIcHlwaS5vcmc§url:90§
rubygems                      | :rubygems_api_key: ruby§=§gems_§hex:48§
nuget                         | nuget push p.nupkg oy§=§2§low:43§
docker hub                    | dckr§=§_pat_§url:27§
sendgrid                      | S§=§G.§url:22§.§url:43§
twilio auth                   | TWILIO_AUTH_TOKEN=§hex:32§
mailgun                       | ke§=§y-§hex:32§
mailchimp                     | MC=§hex:32§-us14
telegram bot                  | https://api.telegram.org/bot§dig:10§:AA§url:33§/getMe
discord bot                   | client.login("M§an:23§.§an:6§.§url:38§")
discord webhook               | https://discord.com/api/webhooks/§!dig:18§/§url:68§
slack webhook                 | https://hooks.slack.com/services/T§up:8§/B§up:8§/§an:24§
teams webhook                 | https://a.webhook.office.com/webhookb2/§!uuid§@§!uuid§/IncomingWebhook/§hex:32§/§uuid§
teams workflow                | https://prod-1.logic.azure.com/workflows/§!hex:32§/triggers/manual/run?sp=%2Frun&sig=§url:43§
google chat webhook           | https://chat.googleapis.com/v1/spaces/AAA/messages?key=AI§=§za§url:35§&token=§url:43§
s3 presigned                  | https://b.s3.amazonaws.com/f?X-Amz-Date=20261101T000000Z&X-Amz-Signature=§hex:64§
gcs presigned                 | https://storage.googleapis.com/b/f?X-Goog-Expires=900&X-Goog-Signature=§hex:256§
cloudfront signature          | https://d1.cloudfront.net/f?Expires=1798761600&Signature=§url:170§__&Key-Pair-Id=K2
zapier hook                   | https://hooks.zapier.com/hooks/catch/§dig:7§/§an:8§/
jwt                           | cookie eyJ§url:30§.eyJ§url:60§.§url:43§
shopify                       | shp§=§at_§hex:32§
square                        | EA§=§AA§url:60§
hugging face                  | hf§=§_§let:34§
datadog                       | DD_API_KEY=§hex:32§
new relic                     | NR§=§AK-§up:27§
sentry dsn secret             | SENTRY_DSN=https://§!hex:32§:§hex:32§@sentry.example.org/3
snyk                          | SNYK_TOKEN: §uuid§
sonar                         | sonar.login=sq§=§p_§hex:40§
codecov                       | CODECOV_TOKEN: "§uuid§"
circleci                      | CIRCLE_TOKEN=§hex:40§
travis                        | travis login --github-token §hex:40§
algolia admin                 | ALGOLIA_ADMIN_KEY = '§hex:32§'
cloudflare global             | X-Auth-Key: §hex:37§
okta                          | Authorization: SSWS 00§url:40§
trello                        | https://api.trello.com/1/boards?key=§!hex:32§&token=§hex:64§
linear                        | lin§=§_api_§an:40§
notion                        | nt§=§n_§an:46§
airtable                      | pat§an:14§.§hex:64§
asana                         | ASANA_ACCESS_TOKEN=1/§!dig:16§:§hex:32§
dropbox                       | sl§=§.§url:130§
facebook                      | EAA§=§C§an:150§
twitter bearer                | TWITTER_BEARER_TOKEN=AAAAAAAAAAAAAAAAAAAAA§an:80§
twitch                        | oauth:§low:30§
linkedin                      | LINKEDIN_CLIENT_SECRET=§an:16§
spotify                       | spotify_client_secret: §hex:32§
databricks                    | da§=§pi§hex:32§
planetscale                   | psc§=§ale_tkn_§url:43§
supabase                      | sb§=§p_§hex:40§
vault service                 | VAULT_TOKEN=hv§=§s.§url:90§
terraform cloud               | credentials "app.terraform.io" { token = "§an:14§.atlas§=§v1.§url:67§" }
age                           | AGE-SECRET§=§-KEY-1§up:58§
wireguard                     | [Interface]⏎PrivateKey = §b64:43§=
wireguard preshared           | [Peer]⏎PresharedKey = §b64:43§=
minio root                    | MINIO_ROOT_PASSWORD=§pw§
ngrok                         | ngrok config add-authtoken §an:43§_§an:6§
grafana service account       | gl§=§sa_§an:32§_§hex:8§
grafana cloud                 | glc§=§_eyJ§b64:100§
atlassian                     | ATA§=§TT3§url:186§
bitbucket app                 | ATB§=§B§an:32§
postman                       | PM§=§AK-§hex:24§-§hex:34§
pulumi                        | pu§=§l-§hex:40§
fly                           | FlyV1 fm§=§2_§b64:200§
tailscale                     | ts§=§key-auth-§an:16§-§an:32§
plaid                         | "access-sand§=§box-§uuid§"
braintree                     | access_token$production$§low:16§$§hex:32§
vapid                         | VAPID_PRIVATE_KEY=§url:43§
firebase server               | FCM: AAAA§url:7§:APA91b§url:134§
launchdarkly                  | LD_SDK_KEY=sdk-§uuid§
mapbox secret                 | sk§=§.eyJ§url:80§.§url:22§
intercom                      | INTERCOM=dG9r§=§O§b64:55§=
flask                         | app.secret_key = "§hex:48§"
laravel                       | APP_KEY=base64:§b64:43§=
django                        | SECRET_KEY = 'django-insecure-§pw§§low:36§'
rails base                    | SECRET_KEY_BASE=§b64:64§
rails master                  | config/master.key contains RAILS_MASTER_KEY=§hex:32§
# settings of programs
salt                          | HASH_SALT=§an:32§
pepper                        | password_pepper: "§hex:40§"
cookie secret                 | OAUTH2_PROXY_COOKIE_SECRET=§b64:43§=
jwt signing                   | jwt: { signing_secret: "§b64:44§" }
nextauth                      | NEXTAUTH_SECRET="§b64:43§="
hmac                          | hmacSecret = §hex:64§
erlang cookie                 | RABBITMQ_ERLANG_COOKIE=§up:20§
encryption seed               | CRYPT_SEED: §an:40§
fernet                        | AIRFLOW__CORE__FERNET_KEY=§url:43§=
master password env           | KEEPASS_MASTER=§pw§
pgpass                        | cat ~/.pgpass: db.example.org:5432:shop:app:§pw§
pgpass wildcard               | ~/.pgpass⏎*:*:*:postgres:§pw§
netrc multiline               | machine api.example.org⏎  login ada⏎  password §pw§
my.cnf                        | [client]⏎user=root⏎password=§pw§
pypirc                        | [pypi]⏎username = ada⏎password = §pw§
aws credentials               | [default]⏎aws_access_key_id=AK§=§IA§up:16§⏎aws_secret_access_key=§b64:40§
docker config                 | {"auths":{"ghcr.io":{"auth":"§b64of§"}}}
kubeconfig token              | users:⏎- name: ada⏎  user:⏎    token: §an:60§
kubeconfig key data           | client-key-data: §b64:400§
kubernetes secret             | apiVersion: v1⏎kind: Secret⏎metadata:⏎  name: a⏎data:⏎  pw: §b64of§
kubernetes stringdata         | kind: Secret⏎stringData:⏎  database-password: §pw§
compose environment           | environment:⏎  - MYSQL_PASSWORD=§pw§
compose mapping               | environment:⏎  MYSQL_ROOT_PASSWORD: "§pw§"
github actions env            | env:⏎  DEPLOY_KEY: §b64:44§
terraform variable            | variable "db_password" {⏎  type = string⏎  default = "§pw§"⏎}
terraform tfvars              | db_admin_password = "§pw§"
terraform one line            | variable "master_pass" { default = "§pw§" }
cloudformation parameter      | DbPassword:⏎  Type: String⏎  Default: §pw§
helm values                   | postgresql:⏎  auth:⏎    postgresPassword: §pw§
ansible become                | ansible_become_pass: §pw§
spring properties             | spring.datasource.password=§pw§
spring yaml                   | datasource:⏎  username: app⏎  password: §pw§
appsettings                   | "ConnectionStrings": { "Db": "Server=s;User ID=sa;Pwd=§pw§;" }
jdbc url                      | jdbc:mysql://h/db?user=root&password=§pw§
jdbc oracle                   | jdbc:oracle:thin:scott/§pw§@//db:1521/x
odbc                          | Driver={ODBC Driver 18};Server=s;Uid=app;Pwd=§pw§
postgres url                  | postgresql://app:§pw§@db:5432/shop
mongodb srv                   | mongodb+srv://ada:§pw§@c0.abc.mongodb.net/test
amqp                          | amqps://guest2:§pw§@mq:5671/v
smtp url                      | smtp://mailer:§pw§@smtp.example.org:587
ftp url                       | ftp://ada:§pw§@ftp.example.org/pub
git remote                    | git remote add origin https://ada:§pw§@git.example.org/a/b.git
redis conf                    | requirepass §pw§
redis acl                     | user ada on >§pw§ ~* +@all
wordpress                     | define( 'DB_PASSWORD', '§pw§' );
wordpress salt                | define('AUTH_KEY', '§sym:64§');
php mysqli                    | mysqli_connect("db", "root", "§pw§", "shop")
java drivermanager            | DriverManager.getConnection(url, "app", "§pw§");
python psycopg                | psycopg2.connect(host="db", user="app", password="§pw§")
python login                  | smtp.login("ada@example.org", "§pw§")
requests auth                 | requests.get(url, auth=("ada", "§pw§"))
paramiko                      | ssh.connect("h", username="ada", password="§pw§")
tomcat users                  | <user username="ada" password="§pw§" roles="manager"/>
maven settings                | <server><id>x</id><username>ada</username><password>§pw§</password></server>
web.config                    | <add name="Db" connectionString="Data Source=s;User ID=a;Password=§pw§"/>
gradle properties             | signing.keyPassword=§pw§
keystore                      | storePassword '§pw§'
wpa                           | network={⏎ ssid="home"⏎ psk="§pw§"⏎}
nmcli wifi                    | nmcli dev wifi connect Home password "§pw§"
ppp secrets                   | # /etc/ppp/chap-secrets⏎ada * "§pw§" *
snmp                          | createUser ada SHA "§pw§" AES
ldap conf                     | bindpw §pw§
ldap bind yaml                | bind_password: §pw§
krb5 keytab pass              | kinit_password=§pw§
radius                        | client nas { secret = §pw§ }
openvpn auth                  | auth-user-pass: ada / §pw§
restic                        | export RESTIC_PASSWORD="§pw§"
borg                          | BORG_PASSPHRASE='§phrase§'
mail app password             | the Gmail app password is §let4§
totp uri                      | otpauth://totp/Ada?secret=§b32:32§&issuer=X
totp secret                   | TOTP secret: §b32:32§
backup codes                  | Backup codes: §dig:8§ §dig:8§ §dig:8§
recovery code                 | My recovery code is §low:5§-§low:5§
cookie session                | Cookie: sessionid=§low:32§; theme=dark
set cookie                    | Set-Cookie: PHPSESSID=§low:26§; path=/
basic header                  | Authorization: Basic §b64of§
bearer opaque                 | -H "Authorization: Bearer §an:40§"
api key query                 | GET /v1/data?apikey=§hex:32§ 200
magic link                    | https://example.org/reset-password?token=§url:43§
private rsa                   | §pem:RSA PRIVATE KEY§
openssh key                   | §pem:OPENSSH PRIVATE KEY§
pgp block                     | §pem:PGP PRIVATE KEY BLOCK§
encrypted key                 | §pem:ENCRYPTED PRIVATE KEY§
jwk private                   | {"kty":"EC","crv":"P-256","x":"§!url:43§","d":"§url:43§"}
gcp service account           | "private_key_id": "§!hex:40§", "private_key": "§pem1:PRIVATE KEY§"

# escaped for an address, and with the name behind the value
escaped address               | https://a.example.org/login?next=%2Fx%3Fapi_key%3D§an:32§%26page%3D2
escaped token                 | to=https%3A%2F%2Fa.example.org%2Fcb%3Faccess_token%3D§an:40§%26state%3D1
escaped twice                 | u=https%253A%252F%252Fa.example.org%252F%253Ftoken%253D§an:32§%2526x%253D1
escaped form                  | body: user%3Dada%26password%3D§an:6§%21§an:6§%26remember%3Dtrue
escaped json                  | payload=%7B%22client_secret%22%3A%22§an:32§%22%2C%22page%22%3A2%7D
name after the value          | {"value": "§pw§", "name": "DB_PASSWORD"}
name after the value, on lines | {⏎  "value": "§an:40§",⏎  "type": "secret",⏎  "name": "API_TOKEN"⏎}
key after the value           | [{"Value":"§an:32§","Key":"STRIPE_SECRET_KEY"}]

# below the name
below a bold name             | **Password**⏎§pw§
below a heading               | ## API key⏎⏎§an:32§
below a name, in backticks    | Token⏎`§an:40§`
from a manager                | Username⏎ada⏎Password⏎§pw§⏎
below a wide colon            | Password：⏎§pw§
below, in a list              | Password:⏎- §pw§
below, quoted                 | The password is:⏎> §pw§
"""
