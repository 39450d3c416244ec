"""Kinds written down last, in the form of `secret_kinds`: no rule was made before they were measured."""

KINDS = r"""
buildkite                     | BUILDKITE_AGENT_TOKEN=§hex:40§
bugsnag                       | bugsnag.apiKey = "§hex:32§"
ghost                         | GHOST_ADMIN_KEY=§!hex:24§:§hex:64§
mux                           | MUX_TOKEN_SECRET=§b64:70§==
cloudinary                    | CLOUDINARY_URL=cloudinary://§!dig:15§:§url:27§@demo
imagekit                      | "privateKey": "private_§b64:27§="
paypal                        | PAYPAL_SECRET=E§url:79§
adyen                         | x-api-key: AQE§b64:90§==
klaviyo                       | klaviyo key p§=§k_§hex:34§
amplitude                     | AMPLITUDE_SECRET_KEY="§hex:32§"
segment                       | SEGMENT_WRITE_KEY=§an:32§
wakatime                      | api_key = wak§=§a_§uuid§
transifex                     | TX_TOKEN=1/§hex:40§
crowdin                       | crowdin_token: §hex:80§
uploadthing                   | UPLOADTHING_TOKEN='eyJ§b64:120§'
upstash                       | UPSTASH_REDIS_REST_TOKEN="AX§b64:60§="
turso                         | TURSO_AUTH_TOKEN=eyJ§url:30§.eyJ§url:60§.§url:86§
meilisearch                   | meilisearch --master-key §url:43§
typesense                     | typesense-server --api-key=§an:48§
haproxy                       | userlist u⏎  user ada insecure-password §pw§
squid                         | cache_peer p parent 3128 0 login=ada:§pw§
samba                         | smbpasswd: new password for ada: §pw§
dovecot                       | passdb { args = password=§pw§ }
asterisk                      | [6001]⏎type=auth⏎username=6001⏎password=§pw§
mosquitto                     | mosquitto_pub -h mq -u ada -P §pw§ -t a -m b
kafka jaas                    | sasl.jaas.config=Login required username="ada" password="§pw§";
nifi                          | nifi.security.keystorePasswd=§pw§
jboss                         | <credential-reference clear-text="§pw§"/>
sonatype                      | ossrhPassword=§pw§
android keystore              | keyAlias=a⏎keyPassword=§pw§
fastlane                      | MATCH_PASSWORD=§pw§ fastlane match
flyway                        | flyway -url=jdbc:x -user=ada -password=§pw§ migrate
liquibase                     | liquibase --username=ada --password=§pw§ update
bitwarden                     | bw unlock §pw§
keepassxc                     | the KeePass master password is §pw§
luks note                     | LUKS passphrase for the laptop: §phrase§
bios                          | BIOS password on the ThinkPad: §pw§
router                        | router admin page: admin / §pw§
english told                  | Tell Ada that the password is §pw§ from today.
english was                   | the old password was §pw§, now it is in the vault
english set                   | I set the password for the test user to §pw§
german wlan                   | WLAN-Passwort: §pw§
german geaendert              | Ich habe das Passwort auf §pw§ geändert.
french changed                | j'ai changé le mot de passe en §pw§
spanish wifi                  | contraseña del wifi: §pw§
russian wifi                  | пароль от вайфая: §pw§
chinese wifi                  | WiFi密码是 §pw§
"""
