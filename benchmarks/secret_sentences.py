"""Kinds of secrets in commands and in what people say, in the form of `secret_kinds`."""

KINDS = r"""
# commands
curl user                     | curl -u ada:§pw§ https://example.org/api
curl proxy                    | curl -x http://p:3128 --proxy-user ada:§pw§ https://example.org
mysql attached                | mysql -h db -u root -p§pw§ shop
mysqldump long                | mysqldump --user=root --password=§pw§ shop > d.sql
mysqladmin                    | mysqladmin -u root password '§pw§'
psql conninfo                 | psql "host=db user=app password=§pw§ dbname=x"
pgpassword                    | PGPASSWORD='§pw§' pg_dump -h db shop
sshpass                       | sshpass -p §pw§ scp a.txt ada@h:
sshpass env                   | SSHPASS=§pw§ sshpass -e ssh ada@h
htpasswd                      | htpasswd -b /etc/nginx/.htpasswd admin §pw§
htpasswd create               | htpasswd -cbB users.txt ada '§pw§'
openssl passin                | openssl rsa -in k.pem -passin pass:§pw§
openssl passout               | openssl genrsa -aes256 -passout pass:§pw§ 4096
openssl enc                   | openssl enc -aes-256-cbc -in a -out b -k §pw§
openssl pkcs12                | openssl pkcs12 -export -password pass:§pw§ -out a.p12
docker login                  | docker login -u ada -p §pw§ ghcr.io
docker login long             | docker login --username ada --password §pw§
podman                        | podman login quay.io -u=ada -p=§pw§
docker env                    | docker run -e POSTGRES_PASSWORD=§pw§ -d postgres
redis cli                     | redis-cli -h cache -a §pw§ ping
redis auth                    | 127.0.0.1:6379> AUTH §pw§
ldapsearch                    | ldapsearch -x -D cn=admin,dc=x -w §pw§ -b dc=x
smbclient                     | smbclient //srv/share -U ada%§pw§
mount cifs                    | mount -t cifs //srv/s /mnt -o username=ada,password=§pw§
net use                       | net use Z: \\srv\share /user:ada §pw§
net user                      | net user ada §pw§ /add
wget                          | wget --user=ada --password=§pw§ https://example.org/f
http password                 | wget --http-password=§pw§ https://example.org/f
httpie                        | http -a ada:§pw§ GET example.org
mongosh                       | mongosh "mongodb://db" -u ada -p §pw§
mongodump                     | mongodump --host db -u ada -p '§pw§' --out d
sqlcmd                        | sqlcmd -S srv -U sa -P §pw§ -Q "select 1"
bcp                           | bcp db.t out f.dat -S srv -U sa -P §pw§
sqlplus                       | sqlplus scott/§pw§@orcl
az login                      | az login --service-principal -u §!uuid§ -p §an:34§ --tenant t
az sql                        | az sql server create -n s --admin-password §pw§
aws configure                 | aws configure set aws_secret_access_key §b64:40§
gcloud sql                    | gcloud sql users set-password ada --instance=i --password=§pw§
vault login                   | vault login hv§=§s.§url:24§
vault kv put                  | vault kv put secret/db password=§pw§
vault userpass                | vault login -method=userpass username=ada password=§pw§
kubectl literal               | kubectl create secret generic db --from-literal=password=§pw§
kubectl registry              | kubectl create secret docker-registry r --docker-username=a --docker-password=§pw§
helm set                      | helm install pg bitnami/postgresql --set auth.postgresPassword=§pw§
ansible extra                 | ansible-playbook s.yml -e "ansible_password=§pw§"
seven zip                     | 7z a -p§pw§ out.7z dir
zip                           | zip -r -P §pw§ out.zip dir
unzip                         | unzip -P §pw§ in.zip
unrar                         | unrar x -p§pw§ in.rar
gpg batch                     | gpg --batch --passphrase '§pw§' -c f
cryptsetup                    | echo -n '§pw§' | cryptsetup luksOpen /dev/sda2 x -
sudo stdin                    | echo '§pw§' | sudo -S apt update
chpasswd                      | echo "ada:§pw§" | chpasswd
passwd stdin                  | echo §pw§ | passwd --stdin ada
docker stdin                  | echo "§pw§" | docker login -u ada --password-stdin
useradd                       | net.exe user svc "§pw§" /add
expect                        | expect "assword:"; send "§pw§\r"
git credential                | git config credential.helper '!f() { echo password=§pw§; }; f'
svn                           | svn co --username ada --password §pw§ https://svn.example.org
rsync env                     | RSYNC_PASSWORD=§pw§ rsync -a u@h::m .
lftp                          | lftp -u ada,§pw§ ftp.example.org
ftp quote                     | USER ada⏎PASS §pw§
rdesktop                      | xfreerdp /u:ada /p:§pw§ /v:host
psexec                        | psexec \\host -u dom\ada -p §pw§ cmd
winrm                         | evil-winrm -i 10.0.0.5 -u ada -p '§pw§'
powershell                    | $p = ConvertTo-SecureString "§pw§" -AsPlainText -Force
cmdkey                        | cmdkey /add:srv /user:ada /pass:§pw§
keytool                       | keytool -list -keystore a.jks -storepass §pw§
jarsigner                     | jarsigner -keypass §pw§ a.jar alias
ipmitool                      | ipmitool -H bmc -U ADMIN -P §pw§ power status
snmpget                       | snmpget -v3 -u ada -A §pw§ -X §pw§ host sysName.0
influx                        | influx -username ada -password '§pw§'
cqlsh                         | cqlsh db -u cassandra -p §pw§
clickhouse client             | clickhouse-client --user ada --password §pw§
rabbitmqctl                   | rabbitmqctl add_user ada §pw§
create user                   | CREATE USER 'ada'@'%' IDENTIFIED BY '§pw§';
alter role                    | ALTER USER ada PASSWORD '§pw§';
mssql login                   | CREATE LOGIN ada WITH PASSWORD = N'§pw§';
oracle identified             | ALTER USER ada IDENTIFIED BY §pw§;
mongo createuser              | db.createUser({user: "ada", pwd: "§pw§", roles: []})
nmap brute                    | hydra -l admin -p §pw§ ssh://host
heroku config                 | heroku config:set SESSION_SECRET=§hex:40§
gh secret                     | gh secret set NPM_TOKEN --body np§=§m_§an:36§
wrangler                      | CLOUDFLARE_API_TOKEN=§url:40§ wrangler deploy
npm set                       | npm config set //registry.npmjs.org/:_authToken §uuid§
pip index                     | pip install --index-url https://ada:§pw§@pypi.example.org/simple x
export token                  | set -x GITLAB_TOKEN §an:26§
windows set                   | setx DB_PASSWORD "§pw§"
dotnet secrets                | dotnet user-secrets set "Smtp:Password" "§pw§"
# English
log in as                     | Log in to Grafana as admin with §pw§
login with user               | You can log in with admin / §pw§ on staging.
sign in using                 | Sign in as ada using §pw§.
password is                   | The password is §pw§
password for host             | the root password for db-3 is §pw§, rotate it later
password of colon             | password of the VPN: §pw§
password said first           | §pw§ is the password for the router
changed to                    | I changed the admin password to §pw§ yesterday
wifi                          | Office wifi: Guest, password §pw§
pin                           | My card's PIN is §dig:4§.
door code                     | The alarm code is §dig:6§
unlock                        | unlock the vault with §pw§
credentials slash             | Creds for staging: ada@example.org / §pw§
username and password         | username: ada, password: §pw§
user pass short               | u: ada p: §pw§
use as password               | Use §pw§ as the password when it asks.
try                           | try §pw§ as password
passphrase                    | gpg passphrase: §phrase§
passphrase is                 | The SSH key's passphrase is §phrase§
secret is                     | our shared secret is §an:24§
key here                      | here's the API key: §an:40§
token parenthesis             | (token: §hex:40§)
token said                    | the deploy token is §url:32§ and works on both
temporary password            | Your temporary password: §pw§
root pw                       | root pw on the NAS = §pw§
mnemonic labelled             | seed phrase: §words:12§
mnemonic 24                   | wallet recovery phrase⏎§words:24§
mnemonic bare                 | §words:12§
mnemonic numbered             | Mnemonic: §nwords:12§
mnemonic 15                   | BIP39 mnemonic = "§words:15§"
# other languages
german lautet                 | Das Passwort für staging lautet §pw§.
german ist                    | Das Kennwort ist §pw§
german colon                  | Zugangsdaten: ada / §pw§
german anmelden               | Melde dich als admin mit §pw§ an.
french est                    | Le mot de passe est §pw§
french colon                  | Mot de passe : §pw§
french pour                   | le mot de passe du serveur de test est §pw§.
spanish es                    | La contraseña es §pw§
spanish clave                 | clave: §pw§
spanish de                    | La contraseña de la base de datos es §pw§
italian                       | La password del server è §pw§
italian chiave                | la parola d'ordine è §pw§
portuguese                    | A senha do banco é §pw§
portuguese passe              | palavra-passe: §pw§
dutch                         | Het wachtwoord is §pw§
dutch voor                    | het wachtwoord voor staging is §pw§.
polish                        | Hasło do bazy to §pw§
polish colon                  | hasło: §pw§
russian                       | Пароль: §pw§
russian ot                    | пароль от сервера — §pw§
japanese                      | パスワードは§pw§です
japanese colon                | パスワード:§pw§
chinese                       | 密码是§pw§
chinese colon                 | 数据库密码:§pw§
korean                        | 비밀번호는 §pw§ 입니다
turkish                       | Şifre: §pw§
turkish parola                | sunucunun parolası §pw§
swedish                       | Lösenordet är §pw§
danish                        | Adgangskoden er §pw§
norwegian                     | Passordet er §pw§
finnish                       | Salasana on §pw§
czech                         | Heslo je §pw§
hungarian                     | A jelszó: §pw§
romanian                      | Parola este §pw§
greek                         | Ο κωδικός είναι §pw§
ukrainian                     | Пароль до бази: §pw§
vietnamese                    | Mật khẩu là §pw§
indonesian                    | Kata sandi: §pw§
arabic                        | كلمة المرور: §pw§
hebrew                        | הסיסמה היא §pw§
hindi                         | पासवर्ड है §pw§
"""  # noqa: E501
