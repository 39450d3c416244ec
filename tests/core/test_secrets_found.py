"""Every shape of a secret is found in every place where people leave one."""

import random
from collections.abc import Iterator

from mcp_server.core.secrets.redaction import find_secrets
from tests.core.made_secrets import KEYS, PASSWORDS, SHAPED

PLACES = """\
§
export X=§
{"k": "§", "n": 1}
{\\"text\\": \\"first\\n§\\"}
k: §
x = '§';
Use §.
The one we use is §, and it expires in May.
curl -H "X-Custom: §" https://api.example.org/v1
https://api.example.org/v1?x=§&page=2
2026-11-20 09:12:03 ERROR refused (§)
- `§` was pasted into the chat
<value>§</value>
%3D§%26
""".splitlines()


PASSWORD_PLACES = """\
password = "§"
password: '§'
PASSWORD=§
export DB_PASSWORD=§
POSTGRES_PASSWORD: §
"password": "§",
\\"password\\": \\"§\\"
'db_pass' => '§',
passwd = §
PGPASSWORD=§ psql -h db -U app
mytool --user ada --password §
mytool --password=§ --force
my_password: str = "§"
const adminPassword: string = '§'
<password>§</password>
<add key="SmtpPassword" value="§" />
  - name: DB_PASSWORD⏎    value: "§"
Server=db;Database=shop;User Id=sa;Password=§;
jdbc:postgresql://db/shop?user=app&password=§&ssl=true
postgres://app:§@db.internal:5432/shop
redis://:§@cache:6379/0
https://ada:§@example.org/repo
curl -u ada:§ https://example.org
curl -s --user "ada:§" https://example.org
curl https://example.org \\⏎  -u 'ada:§'
sshpass -p '§' ssh ada@example.org
mysql -u root -p'§' shop
machine example.org login ada password §
CREATE USER ada IDENTIFIED BY '§';
ALTER ROLE ada WITH PASSWORD '§';
os.environ["DB_PASSWORD"] = "§"
define('DB_PASSWORD', '§');
The password is §
the password for the staging database is §, do not share it
My wifi password is `§`.
The root password was changed to "§" yesterday.
| password | § |
**Password**: §
Password: §
user: ada, pw: §
login: ada / §
credentials are ada:§
use § as the password
""".splitlines()


KEY_PLACES = """\
api_key = "§"
API_KEY=§
STRIPE_API_KEY: §
"apiKey": "§",
\\"api_key\\":\\"§\\"
client_secret: '§'
const clientSecret = '§';
AWS_SECRET_ACCESS_KEY=§
aws_secret_access_key = §
SECRET_KEY = '§'
ACCESS_TOKEN=§
auth_token: §
"token": "§"
_authToken=§
X-Api-Key: §
curl -H "X-Auth-Token: §" https://example.org
Authorization: Bearer §
Authorization: token §
"Authorization": "Bearer §"
headers={"Authorization": "Bearer §"}
-H 'Authorization: ApiKey §'
requests.get(url, params={"access_token": "§"})
https://example.org/hook?token=§&x=1
mytool login --token §
mytool --api-key=§
ENCRYPTION_KEY="§"
AccountName=shop;AccountKey=§;EndpointSuffix=core.windows.net
https://§@example.org/repo.git
setToken("§")
os.getenv("API_TOKEN", "§")
The API key is §
our webhook secret is § now
here is the token: §
""".splitlines()


def positives() -> Iterator[tuple[str, str, str, str]]:
    """Yield group, name, text and the secret in it."""
    source = random.Random(20261120)
    for name, maker in SHAPED.items():
        for place in PLACES:
            secret = maker(source)
            yield "shaped", name, f"Some words before.\n{place.replace('§', secret)}\nand after", secret
    for group, makers, places in (("password", PASSWORDS, PASSWORD_PLACES), ("key", KEYS, KEY_PLACES)):
        for place in places:
            for maker in makers:
                secret = maker(source)
                if "/" in secret and "://§@" in place:
                    continue  # it would end the host
                text = place.replace("§", secret).replace("⏎", "\n")
                yield group, place, f"First.\n{text}\nLast.", secret


def is_masked(text: str, secret: str) -> bool:
    at = text.index(secret)
    return any(
        (secret_found.start, secret_found.end) == (at, at + len(secret))
        for secret_found in find_secrets(text)
    )


def test_every_shape_and_place_of_a_secret_is_found_and_nothing_around_it() -> None:
    masked: dict[str, list[bool]] = {}
    missed = []
    for group, name, text, secret in positives():
        masked.setdefault(group, []).append(is_masked(text, secret))
        if not masked[group][-1]:
            missed.append(f"{group}: {name}: {text!r}")
    for group, hits in masked.items():
        print(f"{group}: recall {sum(hits) / len(hits):.4f} of {len(hits)}")

    assert len(SHAPED) >= 40
    assert not missed, "\n".join(missed)
