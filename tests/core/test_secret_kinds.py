"""Kinds of secrets, of the families that the rules were made with and of others, and what is none."""

import random
from collections.abc import Callable

import pytest

from benchmarks.masking import LEAST_PRECISION, LEAST_RECALL, SETS, filled, measured
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.text_relation import names_in
from tests.growth import grows_evenly


@pytest.mark.parametrize("name", SETS)
def test_secrets_of_many_kinds_are_masked_and_little_else(name: str) -> None:
    figures, wrong = measured(*SETS[name])
    missed = "\n".join(f"{case.kind}: {case.text!r}" for case in wrong)

    assert figures.recall >= LEAST_RECALL and figures.precision >= LEAST_PRECISION, missed


@pytest.mark.parametrize(
    "template",
    [
        "SECRET_KEY_BASE=§b64:64§",
        "htpasswd -b f admin §pw§",
        'variable "db_password" { default = "§pw§" }',
        "~/.pgpass: host:5432:db:user:§pw§",
        "Log in to Grafana as admin with §pw§",
        "Das Passwort für staging lautet §pw§.",
        "gpg passphrase: correct-horse-§let:4§-staple",
        "§words:12§",
        "Windows product key: §up:8§-§up:8§-§up:8§",
        "2FA seed for the root account: §b32:32§",
        "curl -b 'PHPSESSID=§low:26§' https://app.example.com/",
        "https://chat.example.com/hooks/§!hex:24§/§an:64§",
        "https://app.example.com/run?x=1&key=§an:40§",
        'sql.Open("mysql", "app:§an:16§@tcp(127.0.0.1:3306)/shop")',
        "数据库密码\uff1a§pw§",
        "Der API-Schlüssel lautet §an:32§",
        "La clé d'API est §an:32§",
        "APIキー\uff1a§an:32§",
        'Connection(server, "cn=admin", "§pw§")',
        'page.fill("#password", "§pw§")',
        "echo '§pw§' > .vault_pass",
        "ssh-keygen -t ed25519 -N '§pw§' -f id_deploy",
        "APP_KEYS=§an:24§,§an:24§",
        '<Pass encoding="base64">§b64:22§==</Pass>',
        "- **Password:** `§pw§`",
        "<b>Password</b>: <code>§pw§</code>",
        "| service | user | password |\n|---|---|---|\n| db | ada | §pw§ |\n| mq | bob | §pw§ |",
        "Title,Url,Username,Password,OTPAuth\nShop,https://x,ada,§pw§,",
        "user\ttoken\nada\t§hex:40§",
        "profile::db::password: §pw§",
        'let api_key: &str = "§an:36§";',
        "here's the api key -> §an:32§",
        "my password's §pw§ btw",
        "user ada, pass §pw§",
        "Here is the token:\n\n```\n§an:40§\n```",
        "deployer private key 0x§hex:64§",
        "Unseal Key 1: §b64:43§=",
        'co = cohere.Client("§an:40§")',
        'WiFi.begin("home", "§pw§");',
        'expect "Password:"; send "§pw§\\r"',
        "<auth-user-pass>\nada\n§pw§\n</auth-user-pass>",
        '<machineKey validationKey="§hex:128§"/>',
        "config/master.key contains §hex:32§",
        "password: |\n  §pw§",
        "db:\n  password: >-\n    §pw§\n  port: 5432",
        "<password>§an:8§&amp;§an:9§</password>",
        "gh secret set DEPLOY_KEY --repo acme/shop --body '§an:32§'",
        "perm:§an:12§.§an:8§.§an:36§",
        "AKIA§up:16§\n§an:40§",
        "AKIA§up:16§,§an:40§",
        "------BEGIN PRIVATE KEY-----\n-§an:64§\n-§an:64§\n------END PRIVATE KEY-----",
        "------BEGIN PRIVATE KEY-----\n-§an:64§\n-§an:64§",
        "https://app.example.org/login/§an:64§",
        "token: §hex:20§\u200b§hex:20§",
        "token: §hex:20§\ufe00§hex:20§",
    ],
)
def test_these_are_masked_and_the_words_around_them_stay(template: str) -> None:
    source = random.Random(template)
    for _ in range(30):
        text, secrets = filled(f"Before.\n{template}\nAfter.", source)
        masked = redact(text)

        assert not [secret for secret in secrets if secret in masked], text
        assert masked.startswith("Before.\n") and masked.endswith("\nAfter.")


@pytest.mark.parametrize(
    "template",
    [
        "2014-08-22:§dig:14§.GA§dig:5§@trolle:",
        "Ada <ada@example.com>: see http://example.com/hooks/use-effect",
        "https://github.com/corp/webhooks/blob/§hex:40§/src/index.ts",
        "session=§uuid§ took 3 s",
        "def fill(self, name: str | None, password: str | bytes) -> None:",
        "The serial number is 0412-2203.",
        "api: encryption: key: value",
    ],
)
def test_these_look_alike_and_stay(template: str) -> None:
    source = random.Random(template)
    for _ in range(30):
        text, _ = filled(template, source)

        assert redact(text) == text


def test_a_list_of_words_is_no_recovery_phrase() -> None:
    for words in (
        "abandon ability able about above absent absorb abstract absurd abuse access accident",
        "postgres redis docker python typing async cache queue retry tests deploy linux",
        "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
    ):
        assert redact(words) == words


@pytest.mark.parametrize("function", [redact, names_in], ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "atom",
    [
        "token=",
        "*a*",
        "password\t",
        "eyJ-",
        "kind: Secret\ndata:\n a: aGVsbG8gd29ybGQh\n",
        "密码是",
        "login a ",
        "key-",
    ],
)
def test_a_hostile_text_takes_no_longer_than_its_length(function: Callable[[str], object], atom: str) -> None:
    assert grows_evenly(lambda times: atom * times, function)
