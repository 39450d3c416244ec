"""The settings a person can make: by environment variable, or in `config.toml` of the store."""

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_server.core.errors import SettingsError

EMBEDDING_MODELS = ("minilm-l6", "none")


@dataclass(frozen=True, slots=True)
class Settings:
    """
    Every setting, with its default; the environment wins over `config.toml`.

    embedding_model: EMBEDDING_MODEL, `minilm-l6` (shipped) or `none` (search by words only).
    hot_cache_max_items: HOT_CACHE_MAX_ITEMS, how many memories are kept at hand, 0 to 100.
    auto_indexing: ENABLE_AUTO_INDEXING, whether edits made by hand are taken in while a session runs.
    """

    embedding_model: str = "minilm-l6"
    hot_cache_max_items: int = 20
    auto_indexing: bool = True


DEFAULTS = Settings()


def parse_settings(environment: Mapping[str, str], config: Mapping[str, object]) -> Settings:
    """Return the settings; raise SettingsError with the name of the one that does not parse."""

    def value(name: str) -> str | None:
        found = environment.get(name.upper()) or config.get(name.lower())
        return None if found is None or found == "" else str(found).strip()

    model = (value("EMBEDDING_MODEL") or DEFAULTS.embedding_model).lower()
    if model not in EMBEDDING_MODELS:
        raise SettingsError(
            f"EMBEDDING_MODEL is '{model}', which is not a model Daybook can run.",
            f"Use one of: {', '.join(EMBEDDING_MODELS)}.",
        )
    return Settings(
        embedding_model=model,
        hot_cache_max_items=_number(
            "HOT_CACHE_MAX_ITEMS", value("HOT_CACHE_MAX_ITEMS"), default=20, most=100
        ),
        auto_indexing=_switch("ENABLE_AUTO_INDEXING", value("ENABLE_AUTO_INDEXING"), default=True),
    )


def _number(name: str, text: str | None, *, default: int, most: int) -> int:
    if text is None:
        return default
    if not text.isdecimal() or int(text) > most:
        raise SettingsError(
            f"{name} is '{text}', which is not a number from 0 to {most}.", "Correct or unset it."
        )
    return int(text)


def _switch(name: str, text: str | None, *, default: bool) -> bool:
    if text is None:
        return default
    lowered = text.lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    if lowered in ("0", "false", "no", "off"):
        return False
    raise SettingsError(f"{name} is '{text}', which is neither true nor false.", "Correct or unset it.")
