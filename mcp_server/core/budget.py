"""
What calling the model may cost, and what to do when it does not answer.

Every figure is here: prices, caps, how often something is asked, how long to leave the model alone.
"""

import hashlib
import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from mcp_server.core.memory import DAY
from mcp_server.core.render import counted
from mcp_server.core.settings import MODEL, Settings

API = "https://api.anthropic.com"
PUBLISHED = {MODEL: (1.00, 5.00)}
"""USD for a million input tokens and a million output tokens, as published in November 2026."""

CHARACTERS_PER_TOKEN = 2.5  # English and code have 3.5 to 4.5: what is reserved is more than is spent
FRAME_TOKENS = 64  # roles and the like, which are counted with the prompt

MOST_TRIES = 4  # calls for one item, ever
PLAN_PAUSE = 3600.0  # seconds; Claude Code does not say when the limit of a plan is lifted
PAUSES = (30.0, 120.0, 600.0)  # seconds after an item's first, second and every further try
JITTER = 0.5  # the share of a pause that is added at random, so that machines do not return together
LONGEST_PAUSE = 31 * DAY  # no answer keeps the model away for longer

# What LiteLLM, Ollama and vLLM say of a name that they do not know, some of them as a 400 or a 500: whatever
# they are asked, they say it again.
_NO_MODEL = re.compile(
    r"not_found_error|invalid model name|no such model|unknown model|provider not provided"
    r"|model\b.{0,220}\b(?:not (?:be )?found|does not exist|is not (?:available|supported))",
    re.IGNORECASE | re.DOTALL,
)
_NO_CREDIT = re.compile(r"credit balance|billing|spend(?:ing)? limit|usage limit", re.IGNORECASE)


class CallOutcome(StrEnum):
    """How a call ended."""

    OK = "ok"
    REFUSED_KEY = "refused_key"
    NO_MODEL = "no_model"  # or no such endpoint at all
    NO_CREDIT = "no_credit"
    BAD_REQUEST = "bad_request"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    UNREACHABLE = "unreachable"
    UNUSABLE = "unusable"
    STOPPED = "stopped"  # by us: the person wrote a prompt, or the session ended

    @property
    def needs_person(self) -> bool:
        """Whether only the person can mend it: the next call would end likewise."""
        return self in (CallOutcome.REFUSED_KEY, CallOutcome.NO_MODEL, CallOutcome.NO_CREDIT)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered, the tokens that were counted, and why it stopped."""

    text: str
    input_tokens: int
    output_tokens: int
    stop_reason: str


class CallFailed(Exception):
    """
    A call without a reply: `outcome`, the seconds to wait as told (None when nothing was told).

    `charged` is false when it is known to have cost nothing. `str(error)` is a sentence without the
    key and without anything of the prompt.
    """

    def __init__(
        self, outcome: CallOutcome, sentence: str, *, retry_after: float | None = None, charged: bool = False
    ) -> None:
        super().__init__(sentence)
        self.outcome, self.retry_after, self.charged = outcome, retry_after, charged


@dataclass(frozen=True, slots=True)
class Cost:
    """
    What learning from a session cost: calls with a key and on the person's plan, tokens, and USD.

    A call about several sessions counts as one for each; its tokens and USD are parted between them. What
    was on the plan costs no USD. Calls made before this was written down are not known.
    """

    calls: int = 0
    plan_calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __str__(self) -> str:
        """Say it as `3 calls, 4,120 tokens, $0.0061`; '' for no call."""
        paid = [counted(self.calls, "call")] if self.calls else []
        planned = [f"{counted(self.plan_calls, 'call')} on your plan"] if self.plan_calls else []
        said = [*paid, *planned, f"{self.tokens:,} tokens", *([f"${self.usd:.4f}"] if self.calls else [])]
        return ", ".join(said) if paid or planned else ""


@dataclass(frozen=True, slots=True)
class Rest:
    """
    How long the model is left alone: `seconds`, None for as long as the settings stay as they are.

    `lifted` tells whether other settings end it before its time.
    """

    seconds: float | None
    lifted: bool


def price(settings: Settings) -> tuple[float, float] | None:
    """Return the USD for a million input and a million output tokens; None when nobody told the price."""
    return settings.model_price or PUBLISHED.get(settings.model)


def cost(settings: Settings, input_tokens: int, output_tokens: int) -> float:
    """Return what a call costs in USD, 0 where the price is not known: `Spending.today` says so beside it."""
    of_input, of_output = price(settings) or (0.0, 0.0)
    return (input_tokens * of_input + output_tokens * of_output) / 1_000_000


def reserve(settings: Settings, prompt_characters: int, most_tokens: int) -> float:
    """Return the most that a call may cost in USD: a dense prompt, and an answer of full length."""
    return cost(settings, tokens_of(prompt_characters), most_tokens)


def tokens_of(prompt_characters: int) -> int:
    """Return the most tokens that a prompt of so many characters has, where nobody counted them."""
    return FRAME_TOKENS + int(prompt_characters / CHARACTERS_PER_TOKEN) + 1


def refusal(spent_today: float, calls_today: int, reserved: float, settings: Settings) -> str:
    """Return why a call that may cost *reserved* USD is too much for today; '' when it is not."""
    if calls_today >= settings.daily_calls:
        return f"Today's calls of the model ({settings.daily_calls}) are used up."
    if spent_today + reserved > settings.daily_usd:
        return (
            f"The next call may cost ${reserved:.4f}, and ${spent_today:.4f} of today's"
            f" ${settings.daily_usd:.2f} are spent."
        )
    return ""


def refusal_on_plan(calls_today: int, settings: Settings) -> str:
    """Return why no more is asked on the person's own plan today; '' when it may be."""
    if calls_today < settings.daily_plan_calls:
        return ""
    return f"Today's calls on your plan ({settings.daily_plan_calls}) are used up."


def outcome_of(status: int, message: str = "") -> CallOutcome:
    """Return what the HTTP *status* of an answer means; *message* is the error that came with it."""
    if 200 <= status < 300:
        return CallOutcome.OK
    if status == 402 or (status in (400, 403, 429) and _NO_CREDIT.search(message)):
        return CallOutcome.NO_CREDIT
    if status in (401, 403):
        return CallOutcome.REFUSED_KEY
    if status == 404 or (status >= 400 and status != 429 and _NO_MODEL.search(message)):
        return CallOutcome.NO_MODEL
    if status == 429:
        return CallOutcome.RATE_LIMITED
    if status in (408, 409, 425) or status >= 500:
        return CallOutcome.OVERLOADED
    return CallOutcome.BAD_REQUEST if status >= 400 else CallOutcome.UNUSABLE


def failure_on_plan(reason: str, status: int | None) -> CallFailed:
    """
    Return what it means that Claude Code brought no reply: its *reason*, and the HTTP *status* if any.

    The reasons are those of `$.model.complete`, with `stopped` for a call that the module ended, and
    `refused` for one that Claude Code did not make.
    """
    if reason == "stopped":
        return CallFailed(CallOutcome.STOPPED, "The call was stopped, for the person went on.")
    if reason == "aborted":
        return CallFailed(CallOutcome.OVERLOADED, "The model did not answer in time.")
    if reason == "api-error" and status is None:
        return CallFailed(CallOutcome.UNREACHABLE, "The model could not be reached.")
    outcome = outcome_of(status or 403)
    if outcome.needs_person or outcome is CallOutcome.RATE_LIMITED:
        sentence = "Your plan's limit is reached, or it does not have the model."
        return CallFailed(CallOutcome.NO_CREDIT, sentence, retry_after=PLAN_PAUSE)
    return CallFailed(outcome, f"The model did not answer (HTTP {status}).")


def rest_after(outcome: CallOutcome, tries: int, retry_after: float | None, chance: float) -> Rest | None:
    """
    Return how long the model is left alone after an answer; None when the next item may be asked at once.

    *tries* counts the item's calls, this one included; *chance*, 0 to 1, spreads the pause.
    """
    told = None if retry_after is None else min(max(0.0, retry_after), LONGEST_PAUSE)
    if outcome in (CallOutcome.OK, CallOutcome.BAD_REQUEST, CallOutcome.STOPPED):
        return None
    if outcome in (CallOutcome.REFUSED_KEY, CallOutcome.NO_MODEL):
        return Rest(None, lifted=True)
    if outcome is CallOutcome.NO_CREDIT:
        return Rest(told, lifted=True)
    pause = PAUSES[min(max(tries, 1), len(PAUSES)) - 1] * (1 + JITTER * chance)
    return Rest(max(told or 0.0, pause), lifted=False)


def is_loopback(base_url: str) -> bool:
    """Tell whether the endpoint is on this machine: what is sent there stays here, and no key is needed."""
    try:
        host = urlsplit(base_url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def endpoint(base_url: str) -> str:
    """
    Return the address that the library puts "/v1/messages" behind, Anthropic's where none was named.

    Raises ValueError with a sentence for what is no address.
    """
    try:
        parts = urlsplit(base_url or API)
        named = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        named = False
    if not named:
        raise ValueError("The endpoint of the model is no address that begins with http:// or https://.")
    return (base_url or API).rstrip("/").removesuffix("/v1")


def identity(key: str, base_url: str) -> str:
    """Return what stands for a key and the endpoint that it is for; it tells nothing of the key."""
    said = f"{key}\n{base_url}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, digest_size=16).hexdigest()


def settings_digest(identity: str, settings: Settings) -> str:
    """Return what stands for the settings that calls depend on, 16 hexadecimal characters."""
    said = f"{identity} {settings.daily_usd} {settings.daily_calls} {settings.model} {settings.model_price}"
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def is_hopeless(outcome: CallOutcome, tries: int) -> bool:
    """Tell whether an item is given up: it cannot be asked like this, or was asked often enough."""
    return outcome is CallOutcome.BAD_REQUEST or (tries >= MOST_TRIES and outcome is not CallOutcome.STOPPED)
