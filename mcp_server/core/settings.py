"""The settings a person can make: by environment variable, or in `config.toml` of the store."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from mcp_server.core import embedding_models
from mcp_server.core.errors import SettingsError, similar

CAPTURES = ("auto", "suggest", "manual")
TOOLSETS = ("core", "sessions", "curation", "graph", "admin")
HOOK_TOOL = "hook"  # which hooks and the module in the client call
PROPOSES = "submit_candidates"  # the tool by which an agent proposes what it learned
KEPT = (
    HOOK_TOOL,
    *("forget_session", "get_session", "get_sessions", "history", "list_memories", "load_conversation"),
    *("next_transcript_chunk", "restore_memory", "restore_session"),
    *(PROPOSES, "summarize_session", "undo"),
)
"""
The tools that the module keeps from the main conversation, for each costs every request its name.

Claude reaches what they do by the command line, agents have them, and a set that the person switched on is
offered whole.
"""
IN_CONFIG = (
    "embedding_model", "hot_cache_max_items", "enable_auto_indexing", "model_calls", "daily_usd",
    "daily_calls", "plan_calls", "daily_plan_calls", "capture", "auto_archive_days", "toolsets",
    "max_memory_size_mb", "max_history_size_mb", "kg_orphan_grace_days", "kg_max_tokens", "status_line",
    "api_key", "api_base_url", "model", "model_price",
)  # fmt: skip
"""What `config.toml` may say; another name there would be a wish that nobody hears."""
MODEL = "claude-haiku-5-5"
MOST_PRICE = 10_000  # USD for a million tokens


@dataclass(frozen=True, slots=True)
class Settings:
    """
    Every setting, with its default; the environment wins over `config.toml`.

    embedding_model: EMBEDDING_MODEL, a name of `embedding_models.NAMES` (`minilm-l6` is shipped, `none`
        searches by words only) or the absolute path of a folder with a model.
    hot_cache_max_items: HOT_CACHE_MAX_ITEMS, how many memories are kept at hand, 0 to 100.
    auto_indexing: ENABLE_AUTO_INDEXING, whether edits made by hand are taken in while a session runs.
    model_calls: DAYBOOK_MODEL_CALLS, the person's consent to send excerpts of sessions to the model;
        a key in `config.toml` is consent too, unless `model_calls = false` stands beside it.
    model: DAYBOOK_MODEL, the name by which the endpoint knows the model.
    model_price: DAYBOOK_MODEL_PRICE, USD for a million input tokens and for a million output tokens; None
        where the person named none: `budget.price` tells whether it is known nevertheless.
    daily_usd: DAYBOOK_DAILY_USD, the most that calls of one day (UTC) may cost, in USD, 0 to 100.
    daily_calls: DAYBOOK_DAILY_CALLS, the most calls of one day, 0 to 10000.
    plan_calls: DAYBOOK_PLAN_CALLS, the person's consent to learn on their own plan, by Claude Code's calls of
        a small model between turns; None before they were asked.
    daily_plan_calls: DAYBOOK_DAILY_PLAN_CALLS, the most such calls of one day, 0 to 10000.
    capture: DAYBOOK_CAPTURE, `auto` (remember what sessions show), `suggest` or `manual`.
    auto_archive_days: AUTO_ARCHIVE_DAYS, days without activity after which a memory is archived, 0 for never.
    orphan_grace_days: KG_ORPHAN_GRACE_DAYS, days that an archived memory without links waits for the trash.
    max_memory_size_mb: MAX_MEMORY_SIZE_MB, how many MB the memory should take at most, 0 for no limit.
    max_history_size_mb: MAX_HISTORY_SIZE_MB, how many MB what memories said before may take, 0 for no limit.
    kg_max_tokens: KG_MAX_TOKENS, tokens that the graph of a level may have before its lowest nodes are
        archived, 0 for never; `kg_read` shows at most 5,000 for each level.
    toolsets: DAYBOOK_TOOLSETS, the sets of tools that Claude is offered: names of TOOLSETS, always `core`;
        every name of a tool costs tokens in every request.
    status_line: DAYBOOK_STATUS_LINE, whether Claude Code's status line says what was told and what waits.
    """

    embedding_model: str = "minilm-l6"
    hot_cache_max_items: int = 20
    auto_indexing: bool = True
    model_calls: bool = False
    model: str = MODEL
    model_price: tuple[float, float] | None = None
    daily_usd: float = 0.20
    daily_calls: int = 60
    plan_calls: bool | None = None
    daily_plan_calls: int = 40
    capture: str = "auto"
    auto_archive_days: int = 90
    orphan_grace_days: int = 90
    max_memory_size_mb: int = 1000
    max_history_size_mb: int = 0
    kg_max_tokens: int = 5000
    toolsets: tuple[str, ...] = ("core", "sessions")
    status_line: bool = True

    @property
    def on_plan(self) -> bool:
        """Whether the person's own plan is the road: who agreed to calls with a key goes by that one."""
        return bool(self.plan_calls) and not self.model_calls

    @property
    def model_reads(self) -> bool:
        """Whether a model reads sessions, on either road."""
        return self.model_calls or self.on_plan


DEFAULTS = Settings()
HOOKS = "DAYBOOK_HOOKS"
LONGEST_MODEL = 200  # characters of a model's name
LONGEST = 4096  # characters of a setting; a path may have so many


def hooks_are_off(environment: Mapping[str, str]) -> bool:
    """Tell whether nothing is to be shown unasked and nothing captured: DAYBOOK_HOOKS=off."""
    return environment.get(HOOKS, "").lower() == "off"


def is_unattended(environment: Mapping[str, str]) -> bool:
    """Tell whether a program runs the session, as in `claude -p`: no person reads what is told them."""
    return environment.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def parse_settings(environment: Mapping[str, str], config: Mapping[str, object]) -> Settings:
    """Return the settings; raise SettingsError with the name of the one that does not parse."""

    def value(name: str) -> str | None:
        found = environment.get(name) or config.get(name.removeprefix("DAYBOOK_").lower())
        if found is None or found == "":
            return None
        try:
            text = str(found).strip()
        except ValueError:  # a number of thousands of digits
            text = " " * (LONGEST + 1)
        if len(text) > LONGEST:
            raise SettingsError(f"{name} is too long.", "Correct or unset it.")
        return text or None

    if strange := [name[:60] for name in config if name not in IN_CONFIG]:
        raise SettingsError(f"config.toml has '{strange[0]}', which is no setting there.", _meant(strange[0]))
    for name in ("api_key", "api_base_url"):
        if not isinstance(config.get(name, ""), str):
            raise SettingsError(f"{name} in config.toml is no text.", "Put it between quotation marks.")
    said = value("EMBEDDING_MODEL") or DEFAULTS.embedding_model
    model = embedding_models.chosen(said)
    if model is None:
        raise SettingsError(
            f"EMBEDDING_MODEL is '{said:.300}', which is not a model Daybook can run.",
            f"Use one of: {', '.join(embedding_models.NAMES)}, or the absolute path of a folder.",
        )
    capture = (value("DAYBOOK_CAPTURE") or DEFAULTS.capture).lower()
    if capture not in CAPTURES:
        raise SettingsError(
            f"DAYBOOK_CAPTURE is '{capture:.60}', which is no way to capture.",
            f"Use one of: {', '.join(CAPTURES)}.",
        )
    said = value("DAYBOOK_TOOLSETS") or " ".join(DEFAULTS.toolsets)
    chosen = re.split(r"[\s,]+", said.lower())
    if unknown := [name for name in chosen if name not in TOOLSETS]:
        raise SettingsError(
            f"DAYBOOK_TOOLSETS names '{unknown[0]:.60}', which is no set of tools.",
            f"Use some of: {' '.join(TOOLSETS)}.",
        )
    plan = value("DAYBOOK_PLAN_CALLS")
    language_model = value("DAYBOOK_MODEL") or MODEL
    if not language_model.isprintable() or len(language_model) > LONGEST_MODEL:
        raise SettingsError(
            f"DAYBOOK_MODEL has control characters, or more than {LONGEST_MODEL} characters.",
            "Use the name by which the endpoint knows the model.",
        )
    return Settings(
        embedding_model=model,
        hot_cache_max_items=_number(
            "HOT_CACHE_MAX_ITEMS", value("HOT_CACHE_MAX_ITEMS"), default=20, most=100
        ),
        auto_indexing=_switch("ENABLE_AUTO_INDEXING", value("ENABLE_AUTO_INDEXING"), default=True),
        model_calls=_switch(
            "DAYBOOK_MODEL_CALLS", value("DAYBOOK_MODEL_CALLS"), default=bool(config.get("api_key"))
        ),
        model=language_model,
        model_price=_price("DAYBOOK_MODEL_PRICE", value("DAYBOOK_MODEL_PRICE")),
        daily_usd=_amount("DAYBOOK_DAILY_USD", value("DAYBOOK_DAILY_USD"), default=0.20, most=100),
        daily_calls=_number("DAYBOOK_DAILY_CALLS", value("DAYBOOK_DAILY_CALLS"), default=60, most=10000),
        plan_calls=_switch("DAYBOOK_PLAN_CALLS", plan, default=False) if plan else None,
        daily_plan_calls=_number(
            "DAYBOOK_DAILY_PLAN_CALLS", value("DAYBOOK_DAILY_PLAN_CALLS"), default=40, most=10000
        ),
        capture=capture,
        auto_archive_days=_number("AUTO_ARCHIVE_DAYS", value("AUTO_ARCHIVE_DAYS"), default=90, most=36500),
        orphan_grace_days=_number(
            "KG_ORPHAN_GRACE_DAYS", value("KG_ORPHAN_GRACE_DAYS"), default=90, most=36500
        ),
        max_memory_size_mb=_number(
            "MAX_MEMORY_SIZE_MB", value("MAX_MEMORY_SIZE_MB"), default=1000, most=10_000_000
        ),
        max_history_size_mb=_number(
            "MAX_HISTORY_SIZE_MB", value("MAX_HISTORY_SIZE_MB"), default=0, most=10_000_000
        ),
        kg_max_tokens=_number("KG_MAX_TOKENS", value("KG_MAX_TOKENS"), default=5000, most=1_000_000),
        toolsets=tuple(name for name in TOOLSETS if name == "core" or name in chosen),
        status_line=_switch("DAYBOOK_STATUS_LINE", value("DAYBOOK_STATUS_LINE"), default=True),
    )


def _meant(name: str) -> str:
    meant = similar(name.lower().removeprefix("daybook_"), IN_CONFIG)
    return f"Did you mean '{meant[0]}'?" if meant else f"Take it out; there are {', '.join(IN_CONFIG)}."


def environment_told(data: bytes) -> dict[str, object] | None:
    """Return the `env` of a file of Claude Code's settings, None when nobody can tell what it says."""
    if not data.strip():
        return {}
    try:
        # Numbers stay as they are written: Python would refuse long ones, Claude Code does not.
        said = json.loads(data.decode("utf-8-sig", "replace"), parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    told = said.get("env") if isinstance(said, dict) else None
    return told if isinstance(told, dict) else {}


ESCAPE = b"\\u"  # JSON can write any letter of a name as its number


def may_name(data: bytes, name: str) -> bool:
    """Tell whether a file of settings that nobody can read could mean the variable *name*."""
    return name.encode("utf-8", "surrogateescape") in data or ESCAPE in data


def is_told(told: Mapping[str, object] | None, name: str, value: str) -> bool:
    """
    Tell whether the variable *name* has its *value* from what `environment_told` returned.

    When nobody can tell, every variable counts that says where something is sent or what it may cost.
    """
    if told is None:
        return name.startswith(("ANTHROPIC_", "DAYBOOK_", "EMBEDDING_", "HF_"))
    said = told.get(name)
    if said is None or said == value:
        return said == value
    if isinstance(said, bool):
        return value == str(said).lower()
    if "$" in str(said):  # it may have been expanded: "./bin:$PATH"
        return True
    try:
        return float(str(said)) == float(value)  # 1.50 is exported as 1.5
    except ValueError:
        return False


def _number(name: str, text: str | None, *, default: int, most: int) -> int:
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) > most:
        raise SettingsError(
            f"{name} is '{text:.60}', which is not a number from 0 to {most}.", "Correct or unset it."
        )
    return int(text)


def _amount(name: str, text: str | None, *, default: float, most: int) -> float:
    if text is None:
        return default
    # At most nine digits: neither "nan" nor anything that a float cannot hold.
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9}", text) or float(text) > most:
        raise SettingsError(
            f"{name} is '{text:.60}', which is not an amount from 0 to {most}.", "Correct or unset it."
        )
    return float(text)


def _price(name: str, text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    numbers = text.split()
    if len(numbers) > 2:
        raise SettingsError(
            f"{name} is '{text:.60}', which is more than two prices.",
            "Give the USD for a million input tokens and for a million output tokens, as in '1.00 5.00'.",
        )
    prices = [_amount(name, number, default=0.0, most=MOST_PRICE) for number in numbers]
    return prices[0], prices[-1]


def _switch(name: str, text: str | None, *, default: bool) -> bool:
    if text is None:
        return default
    lowered = text.lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    if lowered in ("0", "false", "no", "off"):
        return False
    raise SettingsError(f"{name} is '{text:.60}', which is neither true nor false.", "Correct or unset it.")
