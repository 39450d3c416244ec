"""
What calls of the model may cost, and what to do when the model does not answer.

All figures are here: prices, caps, number of tries, pauses between calls.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from mcp_server.core.addresses import is_http
from mcp_server.core.digests import text_digest
from mcp_server.core.memory_parts import DAY
from mcp_server.core.settings import MODEL, Settings

API = "https://api.anthropic.com"
PUBLISHED = {MODEL: (1.00, 5.00)}
"""USD for a million input tokens and a million output tokens, as published in November 2026."""

CHARACTERS_PER_TOKEN = 2.5  # English and code have 3.5 to 4.5, so we reserve more than is spent
FRAME_TOKENS = 64  # roles and the like, which the API counts with the prompt

MOST_TRIES = 4  # calls for one item, ever
CUT = "max_tokens"  # why a reply ended that would have gone on
PLAN_PAUSE = 3600.0  # seconds; Claude Code does not say when a plan's limit ends
PAUSES = (30.0, 120.0, 600.0)  # seconds after an item's first, second and every further try
JITTER = 0.5  # largest share of a pause added at random, so that machines do not all call again together
LONGEST_PAUSE = 31 * DAY  # seconds; a longer pause that an answer asks for is cut to this

# What LiteLLM, Ollama and vLLM answer to an unknown model name, some of them with status 400 or 500. Every
# further call gets the same answer. Compiled when first needed: whoever adds up the ledger needs none.
_NO_MODEL = (
    r"(?is)not_found_error|invalid model name|no such model|unknown model|provider not provided"
    r"|model\b.{0,220}\b(?:not (?:be )?found|does not exist|is not (?:available|supported))"
)
_NO_CREDIT = r"(?i)credit balance|billing|spend(?:ing)? limit|usage limit"


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
        """Whether only the person can fix it: until then every call ends the same way."""
        return self in (CallOutcome.REFUSED_KEY, CallOutcome.NO_MODEL, CallOutcome.NO_CREDIT)


class Limit(StrEnum):
    """Which limit of the person's stands against a call."""

    CALLS = "calls"
    USD = "usd"
    ANY_CALL = "any_call"
    """A single call may cost more than what a day may: waiting does not help."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered, the tokens that were counted, and why it stopped."""

    text: str
    input_tokens: int
    output_tokens: int
    stop_reason: str


class CallFailed(Exception):
    """
    A call without a reply: its `outcome`, and `retry_after`, the seconds to wait (None when not given).

    `charged` is false when the call is known to have cost nothing. `str(error)` is a sentence that holds
    neither the key nor any part of the prompt.
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

    A call about several sessions counts as one call for each; its tokens and USD are divided between them.
    Calls on the plan cost no USD. Calls from before costs were recorded are not counted.
    """

    calls: int = 0
    plan_calls: int = 0
    tokens: int = 0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Rest:
    """
    A pause in which the model is not called: `seconds` long, or None: until the settings change.

    `lifted` says whether a change of the settings ends the pause early.
    """

    seconds: float | None
    lifted: bool


def price(settings: Settings) -> tuple[float, float] | None:
    """Return the USD for a million input and a million output tokens; None when the price is unknown."""
    return settings.model_price or PUBLISHED.get(settings.model)


def cost(settings: Settings, input_tokens: int, output_tokens: int) -> float:
    """Return what a call costs in USD, 0 when the price is unknown."""
    of_input, of_output = price(settings) or (0.0, 0.0)
    return (input_tokens * of_input + output_tokens * of_output) / 1_000_000


def reserve(settings: Settings, prompt_characters: int, most_tokens: int) -> float:
    """Return the most USD that a call may cost: for a dense prompt and an answer of *most_tokens*."""
    return cost(settings, tokens_of(prompt_characters), most_tokens)


def tokens_of(prompt_characters: int) -> int:
    """Return an upper estimate of the tokens of a prompt with so many characters."""
    return FRAME_TOKENS + int(prompt_characters / CHARACTERS_PER_TOKEN) + 1


def limit_met(spent_today: float, calls_today: int, reserved: float, settings: Settings) -> Limit | None:
    """Return which limit a call that may cost *reserved* USD would exceed today, None when it may be made."""
    if calls_today >= settings.daily_calls:
        return Limit.CALLS
    if reserved > settings.daily_usd:
        return Limit.ANY_CALL
    return Limit.USD if spent_today + reserved > settings.daily_usd else None


def refusal(spent_today: float, calls_today: int, reserved: float, settings: Settings) -> str:
    """Return why a call that may cost *reserved* USD may not be made today; '' when it may."""
    limit = limit_met(spent_today, calls_today, reserved, settings)
    if limit is Limit.CALLS:
        return f"Today's calls of the model ({settings.daily_calls}) are used up."
    if limit:
        return (
            f"The next call may cost ${reserved:.4f}, and ${spent_today:.4f} of today's"
            f" ${settings.daily_usd:.2f} are spent."
        )
    return ""


def refusal_on_plan(calls_today: int, settings: Settings) -> str:
    """Return why no more calls on the person's plan are made today; '' when they may be."""
    if calls_today < settings.daily_plan_calls:
        return ""
    return f"Today's calls on your plan ({settings.daily_plan_calls}) are used up."


def outcome_of(status: int, message: str = "") -> CallOutcome:
    """Return what the HTTP *status* of an answer means; *message* is the error that came with it."""
    if 200 <= status < 300:
        return CallOutcome.OK
    if status == 402 or (status in (400, 403, 429) and re.search(_NO_CREDIT, message)):
        return CallOutcome.NO_CREDIT
    if status in (401, 403):
        return CallOutcome.REFUSED_KEY
    if status == 404 or (status >= 400 and status != 429 and re.search(_NO_MODEL, message)):
        return CallOutcome.NO_MODEL
    if status == 429:
        return CallOutcome.RATE_LIMITED
    if status in (408, 409, 425) or status >= 500:
        return CallOutcome.OVERLOADED
    return CallOutcome.BAD_REQUEST if status >= 400 else CallOutcome.UNUSABLE


def failure_on_plan(reason: str, status: int | None) -> CallFailed:
    """
    Return the failure for a call on the plan without a reply: *reason*, and the HTTP *status* if any.

    The reasons are those of `$.model.complete`, and also `stopped` for a call that the module ended and
    `refused` for a call that Claude Code did not make.
    """
    if reason == "stopped":
        return CallFailed(CallOutcome.STOPPED, "The call was stopped because the person continued.")
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
    Return the pause after a call that ended with *outcome*; None when the next item may be asked at once.

    *tries* counts the item's calls, this one included; *retry_after* are the seconds that the answer asked
    for; *chance*, from 0 to 1, is the random part of the pause.
    """
    asked_for = None if retry_after is None else min(max(0.0, retry_after), LONGEST_PAUSE)
    if outcome in (CallOutcome.OK, CallOutcome.BAD_REQUEST, CallOutcome.STOPPED):
        return None
    if outcome in (CallOutcome.REFUSED_KEY, CallOutcome.NO_MODEL):
        return Rest(None, lifted=True)
    if outcome is CallOutcome.NO_CREDIT:
        return Rest(asked_for, lifted=True)
    pause = PAUSES[min(max(tries, 1), len(PAUSES)) - 1] * (1 + JITTER * chance)
    return Rest(max(asked_for or 0.0, pause), lifted=False)


def endpoint(base_url: str) -> str:
    """
    Return the address to which the library appends "/v1/messages"; Anthropic's when *base_url* is ''.

    Raises ValueError with a sentence when *base_url* is not an http(s) address.
    """
    if not is_http(base_url or API):
        raise ValueError("The model's endpoint is not an address that begins with http:// or https://.")
    return (base_url or API).rstrip("/").removesuffix("/v1")


def identity(key: str, base_url: str) -> str:
    """Return a digest of a key and its endpoint; it does not reveal the key."""
    return text_digest(f"{key}\n{base_url}")


def settings_digest(identity: str, settings: Settings) -> str:
    """Return a digest of the settings that calls depend on, 16 hexadecimal characters."""
    text = f"{identity} {settings.daily_usd} {settings.daily_calls} {settings.model} {settings.model_price}"
    return text_digest(text, size=8)


def is_hopeless(outcome: CallOutcome, tries: int) -> bool:
    """Tell whether an item is given up: the request itself is bad, or was tried `MOST_TRIES` times."""
    return outcome is CallOutcome.BAD_REQUEST or (tries >= MOST_TRIES and outcome is not CallOutcome.STOPPED)
