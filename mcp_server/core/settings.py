"""
The settings that a person can make, by environment variable or in the store's `config.toml`.

It is long because the row of each setting says all of it, including its line in docs/settings.md.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from mcp_server.core import embedding_models
from mcp_server.core.errors import SettingsError, similar

CAPTURES = ("auto", "suggest", "manual")
TOOLSETS = ("core", "sessions", "curation", "graph", "admin")
HOOK_TOOL = "hook"  # the tool that hooks and the module in the client call
PROPOSES = "submit_candidates"  # the tool by which an agent proposes what it learned
KEPT = (
    HOOK_TOOL,
    *("forget_session", "get_session", "get_sessions", "history", "list_memories", "load_conversation"),
    *("next_transcript_chunk", "restore_memory", "restore_session"),
    *(PROPOSES, "summarize_session", "undo"),
)
"""
The tools that the module hides from the main conversation, because each name costs tokens in every request.

Claude can do the same by the command line, and agents have these tools. A set that the person switched on
is offered whole.
"""
MODEL = "claude-haiku-5-5"
EMBEDDING = "EMBEDDING_MODEL"
LONGEST_MODEL = 200  # characters of a model's name
MOST_PRICE = 10_000  # USD for a million tokens


def _number(most: int) -> Callable[[str, str], int]:
    """Return a function that reads a whole number from 0 to *most*."""

    def read(name: str, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) > most:
            raise SettingsError(
                f"{name} is '{text:.60}', which is not a number from 0 to {most}.", "Correct or unset it."
            )
        return int(text)

    return read


def _amount(most: int) -> Callable[[str, str], float]:
    """Return a function that reads a number from 0 to *most*, with or without decimals."""

    def read(name: str, text: str) -> float:
        # At most nine digits: neither "nan" nor anything that a float cannot hold.
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9}", text) or float(text) > most:
            raise SettingsError(
                f"{name} is '{text:.60}', which is not an amount from 0 to {most}.", "Correct or unset it."
            )
        return float(text)

    return read


def _price(name: str, text: str) -> tuple[float, float]:
    numbers = text.split()
    if len(numbers) > 2:
        raise SettingsError(
            f"{name} is '{text:.60}', which is more than two prices.",
            "Give the USD for a million input tokens and for a million output tokens, as in '1.00 5.00'.",
        )
    prices = [_amount(MOST_PRICE)(name, number) for number in numbers]
    return prices[0], prices[-1]


def _switch(name: str, text: str) -> bool:
    lowered = text.lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    if lowered in ("0", "false", "no", "off"):
        return False
    raise SettingsError(f"{name} is '{text:.60}', which is neither true nor false.", "Correct or unset it.")


def _embedding_model(name: str, text: str) -> str:
    try:
        model = embedding_models.chosen(text)
        endpoint = embedding_models.endpoint_of(text)
    except ValueError as error:
        raise SettingsError(f"{name} cannot be used: {error}", "Correct or unset it.") from None
    if endpoint and not endpoint.dimensions:
        raise SettingsError(
            f"{name} lacks the number of dimensions after the name of the model.",
            "Run 'daybook model use' with it in a terminal, which asks the endpoint for them.",
        )
    if model is None:
        raise SettingsError(
            f"{name} is '{text:.300}', which is not a model Daybook can run.",
            f"Use one of: {', '.join(embedding_models.NAMES)}, or the absolute path of a folder.",
        )
    return model


def _language_model(name: str, text: str) -> str:
    if not text.isprintable() or len(text) > LONGEST_MODEL:
        raise SettingsError(
            f"{name} has control characters, or more than {LONGEST_MODEL} characters.",
            "Use the name by which the endpoint knows the model.",
        )
    return text


def _capture(name: str, text: str) -> str:
    if text.lower() not in CAPTURES:
        raise SettingsError(
            f"{name} is '{text.lower():.60}', which is not a way to capture.",
            f"Use one of: {', '.join(CAPTURES)}.",
        )
    return text.lower()


def _toolsets(name: str, text: str) -> tuple[str, ...]:
    names = re.split(r"[\s,]+", text.lower())
    if unknown := [name for name in names if name not in TOOLSETS]:
        raise SettingsError(
            f"{name} names '{unknown[0]:.60}', which is not a set of tools.",
            f"Use some of: {' '.join(TOOLSETS)}.",
        )
    return tuple(toolset for toolset in TOOLSETS if toolset == "core" or toolset in names)


class Setting(NamedTuple):
    """
    The row of one setting: its default, the variable that sets it, and the function that *read*s that.

    `about` is what docs/settings.md says about it.
    """

    default: object
    variable: str
    read: Callable[[str, str], object]
    about: str


class Settings(NamedTuple):
    """Every setting, one row each; the environment wins over `config.toml`."""

    embedding_model: Annotated[
        str,
        Setting(
            "minilm-l6",
            EMBEDDING,
            _embedding_model,
            "the [model](models.md) that finds memories by meaning: `minilm-l6` (shipped), `minilm-l12`, "
            "`mpnet-base`, `multilingual`, the absolute path of a folder, or `none` to search by words only; "
            "`config.toml` also takes `ADDRESS#NAME#DIMENSIONS` for a model behind an endpoint",
        ),
    ]
    hot_cache_max_items: Annotated[
        int,
        Setting(
            20,
            "HOT_CACHE_MAX_ITEMS",
            _number(100),
            "how many often used memories Daybook keeps at hand, 0 to 100",
        ),
    ]
    hot_after: Annotated[
        int,
        Setting(
            3,
            "HOT_CACHE_ACCESSES",
            _number(10_000),
            "how many [accesses](ratings.md#accesses-and-heat) put a memory among these, 0 for never: then "
            "only you do, by pin and promote",
        ),
    ]
    cold_after: Annotated[
        int,
        Setting(
            14,
            "HOT_CACHE_DAYS",
            _number(36_500),
            "after how many days without an access a memory leaves them, unless it is pinned, 0 for never",
        ),
    ]
    auto_indexing: Annotated[
        bool,
        Setting(
            True,
            "ENABLE_AUTO_INDEXING",
            _switch,
            "whether Daybook reads edited files while a session runs",
        ),
    ]
    model_calls: Annotated[
        bool,
        Setting(
            False,
            "DAYBOOK_MODEL_CALLS",
            _switch,
            "`true` lets Daybook send excerpts of sessions to the model, at your cost; setting `api_key` in "
            "`config.toml` does the same",
        ),
    ]
    daily_usd: Annotated[
        float,
        Setting(
            0.20,
            "DAYBOOK_DAILY_USD",
            _amount(100),
            "the most that model calls may cost in a day (UTC), 0 to 100 US dollars",
        ),
    ]
    daily_calls: Annotated[
        int,
        Setting(
            60,
            "DAYBOOK_DAILY_CALLS",
            _number(10_000),
            "the most model calls in a day (UTC), 0 to 10000",
        ),
    ]
    model: Annotated[
        str,
        Setting(
            MODEL,
            "DAYBOOK_MODEL",
            _language_model,
            "the model to call, by its name at the endpoint",
        ),
    ]
    model_price: Annotated[
        tuple[float, float] | None,
        Setting(
            None,
            "DAYBOOK_MODEL_PRICE",
            _price,
            "the model's price in USD for a million input tokens and a million output tokens, as "
            "`1.00 5.00`, or one number for both; needed only for a model other than the default",
        ),
    ]
    plan_calls: Annotated[
        bool | None,
        Setting(
            None,
            "DAYBOOK_PLAN_CALLS",
            _switch,
            "`true` or `false`: whether Daybook may learn from sessions on your Claude plan, between turns; "
            "if unset, Daybook asks you once",
        ),
    ]
    daily_plan_calls: Annotated[
        int,
        Setting(
            40,
            "DAYBOOK_DAILY_PLAN_CALLS",
            _number(10_000),
            "the most model calls on your Claude plan in a day (UTC), 0 to 10000",
        ),
    ]
    capture: Annotated[
        str,
        Setting(
            "auto",
            "DAYBOOK_CAPTURE",
            _capture,
            "`auto` keeps sessions and makes memories from them, `suggest` keeps them and asks before it "
            "makes a memory, `manual` does neither",
        ),
    ]
    auto_archive_days: Annotated[
        int,
        Setting(
            90,
            "AUTO_ARCHIVE_DAYS",
            _number(36_500),
            "how many days a memory that [ages](upkeep.md#what-ages) stays without a sign of life before it "
            "goes to the archive, 0 for never",
        ),
    ]
    toolsets: Annotated[
        tuple[str, ...],
        Setting(
            ("core", "sessions"),
            "DAYBOOK_TOOLSETS",
            _toolsets,
            "which [sets of tools](tools.md) Claude is offered: `core` (always), `sessions`, `curation`, "
            "`graph`, `admin`",
        ),
    ]
    status_line: Annotated[
        bool,
        Setting(
            True,
            "DAYBOOK_STATUS_LINE",
            _switch,
            "whether Claude Code's status line shows how many memories Claude was shown in the session, and "
            "how many things wait for you",
        ),
    ]
    max_memory_size_mb: Annotated[
        int,
        Setting(
            1000,
            "MAX_MEMORY_SIZE_MB",
            _number(10_000_000),
            "how many MB the store should take at most, 0 for no limit; [upkeep.md](upkeep.md) says what "
            "happens above it",
        ),
    ]
    max_history_size_mb: Annotated[
        int,
        Setting(
            0,
            "MAX_HISTORY_SIZE_MB",
            _number(10_000_000),
            "how many MB of earlier versions of memories Daybook keeps, 0 for no limit; above it the oldest "
            "that a machine wrote go first",
        ),
    ]
    orphan_grace_days: Annotated[
        int,
        Setting(
            90,
            "KG_ORPHAN_GRACE_DAYS",
            _number(36_500),
            "how many days an archived graph node without links stays before it goes to the trash",
        ),
    ]
    kg_max_tokens: Annotated[
        int,
        Setting(
            5000,
            "KG_MAX_TOKENS",
            _number(1_000_000),
            "how many tokens the [knowledge graph](graph.md) of a level may have before its lowest-ranked "
            "nodes are archived, 0 for never",
        ),
    ]

    @property
    def on_plan(self) -> bool:
        """Whether Daybook calls the model on the person's plan; consent to calls with a key goes first."""
        return bool(self.plan_calls) and not self.model_calls

    @property
    def model_reads(self) -> bool:
        """Whether a model reads sessions, with a key or on the plan."""
        return self.model_calls or self.on_plan


ROWS: dict[str, Setting] = {name: row.__metadata__[0] for name, row in Settings.__annotations__.items()}
DEFAULTS = Settings._make(row.default for row in ROWS.values())
_PLACES = ("api_key", "api_base_url", "embedding_api_key")  # also in `config.toml`; `bootstrap.py` reads them
HOOKS = "DAYBOOK_HOOKS"
LONGEST = 4096  # characters of a setting; a path may be as long


def in_config(variable: str) -> str:
    """Return the name of a *variable* in `config.toml`."""
    return variable.removeprefix("DAYBOOK_").lower()


IN_CONFIG = (*(in_config(row.variable) for row in ROWS.values()), *_PLACES)
"""The names allowed in `config.toml`; another name there is refused, because it would have no effect."""


def hooks_are_off(environment: Mapping[str, str]) -> bool:
    """Tell whether the hooks must show nothing unasked and capture nothing: DAYBOOK_HOOKS=off."""
    return environment.get(HOOKS, "").lower() == "off"


def is_unattended(environment: Mapping[str, str]) -> bool:
    """Tell whether a program runs the session, as in `claude -p`: no person reads messages to them."""
    return environment.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def parse_settings(environment: Mapping[str, str], config: Mapping[str, object]) -> Settings:
    """Return the settings; raise SettingsError with the name and the place of the one that does not parse."""

    def value(variable: str, *, several: bool) -> tuple[str, str]:
        """Return what *variable* is called where it is set, and its value or *several*, '' for none."""
        in_file = not environment.get(variable)
        raw = config.get(in_config(variable), "") if in_file else environment[variable]
        name = f"{in_config(variable)} in config.toml" if in_file else variable
        try:
            text = (" ".join(map(str, raw)) if several and isinstance(raw, list) else str(raw)).strip()
        except ValueError:  # Python refuses to print a number with thousands of digits
            text = " " * (LONGEST + 1)
        if len(text) > LONGEST:
            raise SettingsError(f"{name} is too long.", "Correct or unset it.")
        return name, text

    if strange := [name[:60] for name in config if name not in IN_CONFIG]:
        raise SettingsError(f"config.toml has '{strange[0]}', which is not a setting.", _hint(strange[0]))
    for name in _PLACES:
        if not isinstance(config.get(name, ""), str):
            raise SettingsError(f"{name} in config.toml is not text.", "Put it between quotation marks.")
    values: dict[str, Any] = {"model_calls": bool(config.get("api_key"))}  # a key put there is consent, too
    for setting, row in ROWS.items():
        name, text = value(row.variable, several=isinstance(row.default, tuple))
        if text:
            values[setting] = row.read(name, text)
    if environment.get(EMBEDDING) and embedding_models.is_endpoint(values.get("embedding_model", "")):
        # A variable may come from anywhere, and memories go where only the person says.
        raise SettingsError(
            f"{EMBEDDING} names an endpoint, which only the person may, in config.toml.",
            "Unset it, and run 'daybook model use' with the address in a terminal.",
        )
    return DEFAULTS._replace(**values)


def _hint(name: str) -> str:
    matches = similar(name.lower().removeprefix("daybook_"), IN_CONFIG)
    return f"Did you mean '{matches[0]}'?" if matches else f"Take it out; there are {', '.join(IN_CONFIG)}."


def environment_told(data: bytes) -> dict[str, object] | None:
    """Return the `env` of a settings file of Claude Code, {} for none; None when it is not valid JSON."""
    if not data.strip():
        return {}
    try:
        # Numbers stay texts: Python would refuse long ones, Claude Code does not.
        settings = json.loads(data.decode("utf-8-sig", "replace"), parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    variables = settings.get("env") if isinstance(settings, dict) else None
    return variables if isinstance(variables, dict) else {}


ESCAPE = b"\\u"  # JSON can escape any letter of a name


def may_name(data: bytes, name: str) -> bool:
    """Tell whether a settings file that does not parse could set the variable *name*."""
    return name.encode("utf-8", "surrogateescape") in data or ESCAPE in data


def is_told(variables: Mapping[str, object] | None, name: str, value: str) -> bool:
    """
    Tell whether the variable *name* has its *value* from *variables*, the result of `environment_told`.

    If that is None (unreadable), true for every variable that may say where data goes or what it costs.
    """
    if variables is None:
        return name.startswith(("ANTHROPIC_", "DAYBOOK_", "EMBEDDING_", "HF_"))
    value_told = variables.get(name)
    if value_told is None or value_told == value:
        return value_told == value
    if isinstance(value_told, bool):
        return value == str(value_told).lower()
    if "$" in str(value_told):  # it may have been expanded: "./bin:$PATH"
        return True
    try:
        return float(str(value_told)) == float(value)  # 1.50 is exported as 1.5
    except ValueError:
        return False
