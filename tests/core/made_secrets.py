"""
Secrets that are none.

Each is put together when the tests run, from a prefix in two halves and random characters of a fixed
seed, so that no scanner of repositories takes it for one.
"""

import base64
import random
import string
from collections.abc import Callable

Maker = Callable[[random.Random], str]
HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_"
UPPER = string.ascii_uppercase + string.digits


def any_of(alphabet: str, length: int, *parts: str) -> Maker:
    """Return a maker of `parts` followed by random characters."""

    def make(source: random.Random) -> str:
        return "".join(parts) + "".join(source.choices(alphabet, k=length))

    return make


def joined(*makers: Maker | str) -> Maker:
    return lambda source: "".join(part if isinstance(part, str) else part(source) for part in makers)


def encoded(source: random.Random, text: str) -> str:
    filled = text.replace("@", "".join(source.choices(ALNUM, k=24)))
    return base64.urlsafe_b64encode(filled.encode("ascii")).decode("ascii").rstrip("=")


def jwt(source: random.Random) -> str:
    header, claims = encoded(source, '{"alg":"HS256","typ":"JWT"}'), encoded(source, '{"sub":"@","iat":17}')
    return f"{header}.{claims}.{any_of(URLSAFE, 43)(source)}"


def private_key(kind: str) -> Maker:
    def make(source: random.Random) -> str:
        lines = [any_of(ALNUM + "+/", 64)(source) for _ in range(6)]
        dashes = "-" * 5
        begin, end = f"{dashes}BEGIN {kind}{dashes}", f"{dashes}END {kind}{dashes}"
        return "\n".join((begin, *lines, any_of(ALNUM, 30)(source) + "==", end))

    return make


SHAPED: dict[str, Maker] = {
    "AWS": any_of(UPPER, 16, "AK", "IA"),
    "AWS temporary": any_of(UPPER, 16, "AS", "IA"),
    "GitHub personal": any_of(ALNUM, 36, "gh", "p_"),
    "GitHub OAuth": any_of(ALNUM, 36, "gh", "o_"),
    "GitHub server": any_of(ALNUM, 36, "gh", "s_"),
    "GitHub user": any_of(ALNUM, 36, "gh", "u_"),
    "GitHub fine-grained": joined(any_of(ALNUM, 22, "github", "_pat_"), any_of(ALNUM, 59, "_")),
    "GitLab": any_of(ALNUM, 20, "gl", "pat-"),
    "Slack bot": joined(
        any_of("123456789", 12, "xo", "xb-"), any_of("123456789", 12, "-"), any_of(ALNUM, 24, "-")
    ),
    "Slack user": joined(any_of("123456789", 12, "xo", "xp-"), any_of(HEX, 32, "-")),
    "Stripe": any_of(ALNUM, 24, "sk", "_live_"),
    "Stripe restricted": any_of(ALNUM, 24, "rk", "_live_"),
    "Stripe webhook": any_of(ALNUM, 32, "wh", "sec_"),
    "OpenAI": joined(any_of(ALNUM, 20, "s", "k-"), any_of(ALNUM, 20, "T3Blbk", "FJ")),
    "OpenAI project": any_of(URLSAFE, 120, "sk-", "proj-"),
    "Anthropic": any_of(URLSAFE, 93, "sk-", "ant-api03-"),
    "OpenRouter": any_of(HEX, 64, "sk-", "or-v1-"),
    "Google API": any_of(ALNUM + "_-", 34, "AI", "zaS"),
    "Google access": any_of(URLSAFE, 80, "ya", "29.a0"),
    "Google client": any_of(ALNUM, 28, "GOC", "SPX-"),
    "npm": any_of(ALNUM, 36, "np", "m_"),
    "PyPI": any_of(URLSAFE, 120, "py", "pi-AgEIcHlwaS5vcmc"),
    "SendGrid": joined(any_of(ALNUM, 22, "S", "G."), any_of(ALNUM, 43, ".")),
    "Twilio": any_of(HEX, 32, "S", "K"),
    "DigitalOcean": any_of(HEX, 64, "dop", "_v1_"),
    "Hugging Face": any_of(string.ascii_letters, 34, "h", "f_"),
    "Databricks": any_of(HEX, 32, "da", "pi"),
    "Linear": any_of(ALNUM, 40, "lin", "_api_"),
    "Notion": any_of(ALNUM, 43, "nt", "n_"),
    "Notion older": any_of(ALNUM, 43, "sec", "ret_"),
    "Shopify": any_of(HEX, 32, "shp", "at_"),
    "Square": any_of(URLSAFE, 43, "sq0", "csp-"),
    "Mailgun": any_of(HEX, 32, "ke", "y-"),
    "Telegram": joined(any_of("123456789", 10), any_of(ALNUM, 33, ":A", "A")),
    "Discord": joined(any_of(ALNUM, 23, "M"), any_of(ALNUM, 6, "."), any_of(ALNUM, 38, ".")),
    "age": any_of(UPPER, 58, "AGE-SECRET", "-KEY-1"),
    "JSON web token": jwt,
    "RSA key": private_key("RSA " + "PRIVATE KEY"),
    "OpenSSH key": private_key("OPENSSH " + "PRIVATE KEY"),
    "Vault": any_of(ALNUM, 90, "hv", "s."),
    "Doppler": any_of(ALNUM, 43, "dp", ".pt."),
    "Fly": any_of(URLSAFE, 43, "fo", "1_"),
    "Supabase": any_of(HEX, 40, "sb", "p_"),
    "PlanetScale": any_of(URLSAFE, 43, "pscale", "_tkn_"),
    "Terraform": joined(any_of(ALNUM, 14), any_of(ALNUM, 67, ".atlas", "v1.")),
    "Cloudflare": any_of(ALNUM, 40, "cf", "ut_"),
    "Grafana": joined(any_of(ALNUM, 32, "gl", "sa_"), any_of(HEX, 8, "_")),
    "New Relic": any_of(UPPER, 27, "NR", "AK-"),
    "Docker": any_of(ALNUM, 27, "dckr", "_pat_"),
    "Figma": any_of(ALNUM, 40, "fi", "gd_"),
    "Postman": joined(any_of(HEX, 24, "PM", "AK-"), any_of(HEX, 34, "-")),
    "Groq": any_of(ALNUM, 52, "gs", "k_"),
    "Sentry": any_of(HEX, 64, "sntry", "u_"),
    "Atlassian": any_of(ALNUM, 180, "ATA", "TT3"),
    "Pulumi": any_of(HEX, 40, "pu", "l-"),
    "Tailscale": joined(any_of(ALNUM, 16, "ts", "key-auth-"), any_of(ALNUM, 32, "-")),
}


PASSWORDS: tuple[Maker, ...] = (
    lambda source: (
        source.choice(("hunter", "dragon", "monkey", "Sommer")) + str(source.randint(2, 9999)) + "!x"
    ),
    lambda source: any_of(ALNUM + "!#%*+=", 14)(source) + "7a",
    lambda source: "Tr0ub4dor" + "&" + str(source.randint(3, 99)),
    lambda source: source.choice(("corgi", "tulip")) + "-" + any_of(LOWER, 6)(source) + "7",
)


KEYS: tuple[Maker, ...] = (
    any_of(HEX, 32),
    any_of(ALNUM, 40),
    any_of(ALNUM + "+/", 38, "a1"),
    any_of(LOWER, 24),
)
