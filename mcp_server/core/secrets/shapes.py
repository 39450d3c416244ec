"""
What the secrets of known vendors look like, where the vendor gave them a recognisable shape.

Each shape has an anchor, a literal that occurs in every such secret and that `str.find` looks for;
the pattern is tried only there, so that a hundred shapes cost little on text without secrets.
Sources: the vendors' documentation of their token formats, as far as they publish it.
Quantifiers are bounded, and one class never follows an overlapping one: no input takes long.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

WINDOW = 4096  # characters that a pattern may read; a secret that is longer is followed by _REST

# A letter or digit before it makes it the middle of something else, unless that is an escape
# (`\n` in JSON, `%3D` in a URL) or the vendor's own `bot`.
_LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=/bot))"
_RIGHT = r"(?![A-Za-z0-9])"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


class Shape(NamedTuple):
    """
    One recognisable secret: `kind` for people, `anchor` to look for, `pattern` to be sure.

    The pattern begins `before` characters before the anchor, 0 when the anchor is a prefix; `dot` says that
    a dot follows within 1,100 characters.
    A group named `secret` in the pattern is the secret, otherwise all of the match.
    """

    kind: str
    anchor: str
    pattern: str
    before: int = 0
    dot: bool = False


@cache
def pattern(source: str) -> re.Pattern[str]:
    """Return *source* compiled when it is first needed: hooks load these modules, and few meet a secret."""
    return re.compile(source)


@cache
def _compiled(shape: Shape) -> re.Pattern[str]:
    """Return the pattern of *shape* with its borders."""
    left = _LEFT if shape.before or shape.anchor[0].isalnum() else ""
    return re.compile(left + shape.pattern + _RIGHT)


def _prefixes(kind: str, anchors: str, rest: str) -> tuple[Shape, ...]:
    return tuple(Shape(kind, anchor, re.escape(anchor) + rest) for anchor in anchors.split())


SHAPES: tuple[Shape, ...] = (
    # Clouds and hosting
    *_prefixes("an AWS access key", "AKIA ASIA ABIA ACCA A3T", r"[A-Z0-9]{16,17}"),
    Shape("an AWS Bedrock key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,300}={0,2}"),
    Shape("an AWS Bedrock key", "bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/=]{28,4000}"),
    Shape("a Google API key", "AIza", r"AIza[\w-]{35}"),
    Shape("a Google access token", "ya29.", r"ya29\.[\w.-]{20,2048}[\w-]"),
    Shape("a Google client secret", "GOCSPX-", r"GOCSPX-[\w-]{20,40}"),
    Shape("a Google refresh token", "1//0", r"1//0[\w-]{40,256}"),
    Shape("an Azure account key", "AccountKey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{40,90}={0,2})"),
    Shape("an Azure access key", "SharedAccessKey=",
        r"SharedAccessKey=(?P<secret>[A-Za-z0-9+/]{40,90}={0,2})"),
    Shape("an Azure signature", "sig=", r"sig=(?P<secret>[A-Za-z0-9%+/]{40,90}(?:%3D|=))"),
    Shape("an Azure client secret", "Q~", r"[\w~.-]{3}[0-9]Q~[\w~.-]{31,34}", before=4),
    Shape("an Azure DevOps token", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", before=76),
    *_prefixes("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    *_prefixes("a Cloudflare token", "cfut_ cfat_ cfk_", r"[\w-]{36,64}"),
    Shape("a Cloudflare origin key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,200}"),
    Shape("a Heroku key", "HRKU-", r"HRKU-[\w-]{36,64}"),
    Shape("a Fly.io token", "fo1_", r"fo1_[\w-]{40,60}"),
    *_prefixes("a Fly.io token", "fm1_ fm2_ fm1a_ fm1r_", r"[A-Za-z0-9+/=_,-]{60,2048}"),
    *_prefixes("a Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", r"[A-Za-z0-9]{36,60}"),
    *_prefixes("a Vercel token", "vcp_ vck_ vci_ vca_ vcr_", r"[A-Za-z0-9]{24,80}"),
    Shape("a Render key", "rnd_", r"rnd_[A-Za-z0-9]{24,40}"),
    Shape("a Scalingo token", "tk-us-", r"tk-us-[\w-]{48}"),
    *_prefixes("an Alibaba access key", "LTAI", r"[A-Za-z0-9]{12,24}"),
    *_prefixes("a Tencent secret id", "AKID", r"[A-Za-z0-9]{32}"),
    *_prefixes("a Yandex key", "AQVN", r"[\w-]{35,38}"),
    *_prefixes("a Yandex token", "y0_ y1_ y2_ y3_", r"[\w-]{50,60}"),
    Shape("a Tailscale key", "tskey-", r"tskey-[a-z]{2,12}-[A-Za-z0-9]{8,40}(?:-[A-Za-z0-9]{8,64})?"),
    # Code, packages and continuous integration
    *_prefixes("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{20,255}"),
    Shape("a GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    *_prefixes(
        "a GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        r"[\w.-]{18,300}[A-Za-z0-9]",
    ),
    Shape("a GitLab runner token", "GR1348941", r"GR1348941[\w-]{20,50}"),
    Shape("a JetBrains token", "perm:", r"perm:[\w+/=]{4,100}\.[\w+/=]{4,100}\.[A-Za-z0-9]{24,80}"),
    Shape("a Bitbucket token", "ATBB", r"ATBB[A-Za-z0-9]{24,40}"),
    *_prefixes("an Atlassian token", "ATATT3 ATCTT3", r"[\w=-]{60,255}"),
    Shape("an npm token", "npm_", r"npm_[A-Za-z0-9]{36,64}"),
    Shape("a PyPI token", "pypi-", r"pypi-(?=[a-z_-]{0,40}[A-Z0-9])[\w-]{50,512}"),
    Shape("a RubyGems key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    Shape("a Clojars token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    Shape("a NuGet key", "oy2", r"oy2[a-z0-9]{43}"),
    Shape("a crates.io token", "cio", r"cio[A-Za-z0-9]{32}"),
    *_prefixes("a Docker token", "dckr_pat_ dckr_oat_", r"[\w-]{24,64}"),
    *_prefixes("a CircleCI token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{20,24}_[a-f0-9]{40}"),
    *_prefixes("a Buildkite token", "bkua_ bkpt_ bkct_ bkaj_", r"[A-Za-z0-9]{36,64}"),
    *_prefixes("a SonarQube token", "sqp_ squ_ sqa_", r"[a-f0-9]{40}"),
    *_prefixes("a Sourcegraph token", "sgp_ slk_", r"(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40,64}"),
    *_prefixes("an Artifactory key", "AKCp", r"[A-Za-z0-9]{60,80}"),
    Shape("an Artifactory token", "cmVmd", r"cmVmd[A-Za-z0-9]{59}"),
    Shape("a Pulumi token", "pul-", r"pul-[a-f0-9]{40}"),
    Shape("a Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,80}", before=14),
    *_prefixes("a Harness token", "pat. sat.", r"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    Shape("an Octopus key", "API-", r"API-[A-Z0-9]{26,32}"),
    Shape("a Prefect key", "pnu_", r"pnu_[a-zA-Z0-9]{36}"),
    Shape("an Infracost key", "ico-", r"ico-[a-zA-Z0-9]{32}"),
    Shape("an OpenShift token", "sha256~", r"sha256~[\w-]{43}"),
    # Keeping secrets
    *_prefixes("a Vault token", "hvs. hvb. hvr.", r"[\w-]{20,300}"),
    Shape("a Vault token", "s.", r"s\.(?=(?:[A-Za-z]{0,23}[0-9]){2})[A-Za-z0-9]{24}"),
    *_prefixes("a Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"(?:[\w-]{1,40}\.)?[A-Za-z0-9]{40,44}"),
    Shape("a 1Password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{100,2048}"),
    Shape("a 1Password secret key", "A3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    Shape("an age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Za-z0-9]{58}"),
    Shape("a private key", "b3Blbn" "NzaC1rZXktdjE", r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=\s]{60,4000}"),
    *_prefixes(
        "a private key",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBL LS0tLS1CRUdJTiBQUklWQVRFIEtFWS LS0tLS1CRUdJTiBFQyBQUklWQVRF "
        "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVkt",
        r"[A-Za-z0-9+/=]{40,4000}",
    ),
    # Models
    Shape("an Anthropic API key", "sk-ant-", r"sk-ant-[\w-]{16,300}"),
    *_prefixes("an OpenAI API key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{16,300}"),
    Shape("an OpenRouter key", "sk-or-", r"sk-or-(?:v1-)?[a-f0-9]{32,80}"),
    Shape("a Langfuse key", "sk-lf-", rf"sk-lf-{_UUID}"),
    Shape("an API key", "sk-", r"sk-(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{20,200}"),
    *_prefixes("a Hugging Face token", "hf_ api_org_", r"[A-Za-z0-9]{30,60}"),
    Shape("a Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,64}"),
    Shape("an xAI key", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
    Shape("a Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    Shape("a Replicate token", "r8_", r"r8_[A-Za-z0-9]{37,40}"),
    Shape("a Tavily key", "tvly-", r"tvly-(?:[a-z]{3,6}-)?[A-Za-z0-9]{24,64}"),
    Shape("a Pinecone key", "pcsk_", r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,80}"),
    *_prefixes("a LangSmith key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}"),
    Shape("an NVIDIA key", "nvapi-", r"nvapi-[\w-]{50,80}"),
    Shape("a Voyage key", "pa-", r"pa-(?=[A-Za-z_-]{0,40}[0-9])[\w-]{43}"),
    Shape("a Jina key", "jina_", r"jina_[A-Za-z0-9]{50,70}"),
    Shape("a Together key", "tgp_v1_", r"tgp_v1_[\w-]{40,60}"),
    Shape("a Cerebras key", "csk-", r"csk-[a-z0-9]{40,60}"),
    Shape("a Fireworks key", "fw_", r"fw_(?=[A-Za-z]{0,20}[0-9])[A-Za-z0-9]{22,24}"),
    Shape("a Firecrawl key", "fc-", r"fc-[a-f0-9]{32}"),
    Shape("an ElevenLabs key", "sk_", r"sk_[a-f0-9]{48}"),
    # Data
    Shape("a Databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?"),
    *_prefixes("a PlanetScale secret", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.-]{31,63}[\w=-]"),
    *_prefixes("a Supabase key", "sbp_ sb_secret_", r"[\w-]{20,64}"),
    *_prefixes("a Neon key", "napi_ npg_", r"(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{12,80}"),
    Shape("an Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    Shape("a ClickHouse key", "4b1d", r"4b1d[A-Za-z0-9]{38}"),
    Shape("a Contentful token", "CFPAT-", r"CFPAT-[\w-]{40,50}"),
    *_prefixes("an Aiven or Redpanda token", "AVNS_", r"[\w-]{19,24}"),
    # Watching and measuring
    *_prefixes("a New Relic key", "NRAK- NRIQ- NRII- NRSP- NRRA-", r"[A-Za-z0-9_-]{24,40}"),
    Shape("a Grafana key", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/]{60,400}={0,3}"),
    Shape("a Grafana token", "glc_", r"glc_[A-Za-z0-9+/]{32,400}={0,2}"),
    Shape("a Grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}"),
    *_prefixes("a Sentry token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{60,400}"),
    Shape("a Dynatrace token", "dt0", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    *_prefixes("a PostHog key", "phx_ phs_", r"[A-Za-z0-9]{40,64}"),
    # Messages and mail
    *_prefixes("a Slack token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxe- xapp-",
        r"[A-Za-z0-9-]{10,400}"),
    *_prefixes("a Slack token", "xoxe.xoxp- xoxe.xoxb-", r"[A-Za-z0-9-]{10,400}"),
    Shape("a Slack cookie", "xoxd-", r"xoxd-[A-Za-z0-9%+/=-]{10,400}"),
    Shape("a Slack webhook", "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/]{20,100})"),
    Shape("a Teams webhook", "/IncomingWebhook/", r"/IncomingWebhook/(?P<secret>[a-f0-9]{32}/[a-f0-9-]{36})"),
    Shape("a Discord webhook", "/api/webhooks/", r"/api/webhooks/[0-9]{15,21}/(?P<secret>[\w-]{50,90})"),
    Shape("a Zapier webhook", "hooks.zapier.com/",
        r"hooks\.zapier\.com/hooks/catch/(?P<secret>[0-9]{4,12}/[A-Za-z0-9]{5,24})"),
    Shape("a Discord token", "mfa.", r"mfa\.[\w-]{60,100}"),
    *(Shape("a Telegram bot token", ":AA", rf"[0-9]{{{n}}}:AA[\w-]{{32,34}}", before=n) for n in (8, 9, 10)),
    *(Shape("a Discord token", ".",
        rf"[MNO][\w-]{{{n - 1}}}\.[\w-]{{6}}\.[\w-]{{27,40}}", before=n) for n in (24, 26)),
    Shape("a SendGrid key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    Shape("a Twilio key", "SK", r"SK[0-9a-fA-F]{32}"),
    Shape("a Mailgun key", "key-", r"key-[0-9a-f]{32}"),
    Shape("a Mailchimp key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}", before=32),
    *_prefixes("a Brevo key", "xkeysib- xsmtpsib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    Shape("a Resend key", "re_", r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,28}"),
    Shape("a Postman key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    # Money and shops
    *_prefixes("a Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_",
        r"[A-Za-z0-9_]{10,255}"),
    Shape("a webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,100}"),
    *_prefixes("a Shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[a-fA-F0-9]{32}"),
    *_prefixes("a Square token", "sq0atp- sq0csp- sq0idp-", r"[\w-]{22,43}"),
    Shape("a Square token", "EAAA", r"EAAA[\w-]{60}"),
    *(Shape("a Facebook token", "|", rf"[0-9]{{{n}}}\|[\w-]{{27}}", before=n) for n in (15, 16)),
    Shape("a Facebook token", "EAA", r"EAA[A-Z][A-Za-z0-9]{80,400}"),
    Shape("a Braintree token", "access_token$",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{12,20}\$[a-f0-9]{32}"),
    Shape("a Plaid token", "access-", rf"access-(?:sandbox|development|production)-{_UUID}"),
    *_prefixes("a Flutterwave key", "FLWSECK- FLWSECK_TEST-", r"[A-Za-z0-9]{12,40}(?:-X)?"),
    *_prefixes("an EasyPost key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    *_prefixes("a Shippo token", "shippo_live_ shippo_test_", r"[a-fA-F0-9]{40}"),
    *_prefixes("a Duffel token", "duffel_live_ duffel_test_", r"[\w=-]{43}"),
    *_prefixes("a Lob key", "live_ test_", r"[a-f0-9]{35}"),
    *_prefixes("a Razorpay key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14,24}"),
    *_prefixes("a GoCardless token", "live_", r"[\w=-]{40}"),
    # Work
    *_prefixes("a Notion token", "ntn_", r"[A-Za-z0-9]{40,60}"),
    *_prefixes("a Notion token", "secret_", r"(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{40,50}"),
    *_prefixes("a Linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,64}"),
    *_prefixes("a Figma token", "figd_ figo_", r"[\w-]{36,64}"),
    Shape("an Asana token", "/", r"[12]/[0-9]{13,20}(?:/[0-9]{13,20})?:[a-f0-9]{32}", before=1),
    *_prefixes("a HubSpot token", "pat-na pat-eu", rf"[0-9]-{_UUID}"),
    *_prefixes("a Dropbox token", "sl.", r"[\w-]{60,300}"),
    Shape("a Typeform token", "tfp_", r"tfp_[\w.-]{39,69}[\w-]"),
    *_prefixes("an Intercom token", "dG9rO", r"[A-Za-z0-9+/=_-]{40,80}"),
    Shape("a ReadMe key", "rdme_", r"rdme_[a-z0-9]{70}"),
    Shape("a frame.io token", "fio-u-", r"fio-u-[\w=-]{64}"),
    Shape("an Adobe client secret", "p8e-", r"p8e-[A-Za-z0-9_-]{32}"),
    Shape("a MaxMind key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", before=36),
    *_prefixes("a 42 client secret", "s-s4t2ud- s-s4t2af-", r"[a-f0-9]{64}"),
    *_prefixes("a SettleMint token", "sm_aat_ sm_pat_ sm_sat_", r"[A-Za-z0-9]{16}"),
    Shape("a GitLab session", "_gitlab_session=", r"_gitlab_session=(?P<secret>[0-9a-z]{32})"),
    Shape("an Adafruit key", "aio_", r"aio_[A-Za-z0-9]{28}"),
    Shape("a Mapbox secret token", "sk.eyJ", r"sk\.eyJ[\w-]{40,200}\.[\w-]{20,40}"),
    Shape("a Firebase key", ":APA91b", r"[\w-]{7,11}:APA91b[\w-]{100,200}", before=11),
    *_prefixes("a wallet key", "xprv yprv zprv tprv", r"[A-Za-z0-9]{100,112}"),
    Shape("a Nostr key", "nsec1", r"nsec1[02-9ac-hj-np-z]{58}"),
    *_prefixes("a NATS seed", "SUA SAA SOA", r"[A-Z2-7]{55}"),
    Shape("an E2B key", "e2b_", r"e2b_[a-f0-9]{40}"),
    Shape("a Matrix token", "syt_", r"syt_[A-Za-z0-9+/]{2,80}_[A-Za-z]{20}_[A-Za-z0-9]{6}"),
    Shape("a Backblaze key", "K00", r"K00[0-9][A-Za-z0-9+/]{27}"),
    Shape("a Runpod key", "rpa_", r"rpa_[A-Za-z0-9]{36,60}"),
    Shape("a session", "CfDJ8", r"CfDJ8[\w-]{40,4000}"),
    Shape("an AWS secret key", "AKIA",
        r"AKIA[A-Z0-9]{16}(?:[\"'][^\n]{1,40}?[\"']|[\s,;:|/]{1,6})(?P<secret>[A-Za-z0-9+/]{40})"),
    # Everywhere
    Shape("a JSON web token", "ZXlK", r"ZXlK[\w+/-]{50,4000}={0,2}"),
    Shape("a JSON web token", "eyJ", r"eyJ[\w-]{10,1000}+\.[\w-]{10,4000}(?:\.[\w-]{10,4000}){1,3}",
        dot=True),
    Shape("a JSON web token", "ey", r"ey[\w-]{10,1000}+\.ey[\w-]{10,4000}\.[\w-]{10,4000}", dot=True),
)  # fmt: skip

_BY_ANCHOR: dict[str, list[Shape]] = {}
for _shape in SHAPES:
    _BY_ANCHOR.setdefault(_shape.anchor, []).append(_shape)
_SHORTEST = 15  # characters of the shortest secret that has a shape
_REST = re.compile(r"[A-Za-z0-9_.~+/=-]{0,65536}")
_DUMMY = r"x{5}|\*{3}|\.{3}|0{8}|your|placeholder|example|replace|insert|redacted|dummy|fake"


def shaped(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of what has the shape of a vendor's secret in *text*."""
    # Looking for two hundred literals in a few long words is much cheaper than in all of the text.
    words = text.split()
    if max(map(len, words), default=0) < _SHORTEST:
        return
    long_words = "\n".join({word for word in words if len(word) >= _SHORTEST})
    for anchor in [anchor for anchor in _BY_ANCHOR if anchor in long_words]:
        for shape in _BY_ANCHOR[anchor]:
            yield from _of_shape(text, shape)


def _of_shape(text: str, shape: Shape) -> Iterator[tuple[int, int, str]]:
    match_at, anchor, before = _compiled(shape).match, shape.anchor, shape.before
    if len(anchor) <= 2 and not shape.dot and text.count(anchor) * 32 > len(text):
        yield from _of_frequent(text, shape)
        return
    at = text.find(anchor)
    dot = at if shape.dot else len(text)
    while at >= 0:
        if dot < at or (shape.dot and dot == at):
            dot = text.find(".", at)
            if dot < 0:
                return
        if shape.dot and dot - at > 1100:
            at = text.find(anchor, dot - 1100)
            continue
        start = at - before
        at += 1
        if start >= 0 and (match := match_at(text, start, start + WINDOW)):
            group = "secret" if "secret" in match.re.groupindex else 0
            end = whole(text, match.end(group), start + WINDOW)
            if not _is_dummy(match[group], anchor):
                yield match.start(group), end, shape.kind
            at = max(at, end)
        at = text.find(anchor, at)


def _of_frequent(text: str, shape: Shape) -> Iterator[tuple[int, int, str]]:
    """As `_of_shape`, where the anchor is so frequent that to look for the pattern itself is quicker."""
    for match in _compiled(shape).finditer(text):
        group = "secret" if "secret" in match.re.groupindex else 0
        if not _is_dummy(match[group], shape.anchor):
            yield *match.span(group), shape.kind


def whole(text: str, end: int, window_end: int) -> int:
    """Return where a secret ends that was read up to *end*: further on when it filled its window."""
    match = _REST.match(text, end) if end == window_end else None
    return match.end() if match else end


def _is_dummy(value: str, anchor: str) -> bool:
    """Whether a value was given the right shape only to show the shape: 'ghp_xxxxxxxx'."""
    body = value.removeprefix(anchor)
    if len(set(body)) < 6 or (value != value.upper() and pattern(_DUMMY).search(body.lower())):
        return True
    return body.islower() and ("-" in body or "_" in body) and not any(map(str.isdigit, body))
