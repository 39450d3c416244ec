"""
The embedding model of a process: the chosen one, with the vectors that it made.

The settings say which one is chosen; that may change while a process runs.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.adapters.index.database.database import Database
from mcp_server.core.embedding_models import NONE, endpoint_of
from mcp_server.core.errors import DaybookError, IndexUnavailable
from mcp_server.core.ports import Embedder

if TYPE_CHECKING:
    from mcp_server.adapters.index.search.semantic import Meaning


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The result of loading the model of a *setting*: the model, or the *problem* with it."""

    setting: str
    meaning: "Meaning | None" = None
    problem: str = ""


class Embedding:
    """
    The model by which a store finds memories, see `store.Embedding`; a process loads it once.

    *choice* returns the setting at this moment, and *load* its model, as `load_embedder` does. With *wait* a
    call loads the model; otherwise a thread loads it, and calls return None until then. Between `hold_back`
    and `begin` no thread does.
    """

    def __init__(
        self, choice: Callable[[], str], load: Callable[[str], Embedder], database: Database, *, wait: bool
    ) -> None:
        self._choice = choice
        self._load_embedder = load
        self._database = database
        self._wait = wait
        self._may_begin = threading.Event()
        self._may_begin.set()
        self._lock = threading.Lock()
        self._loader: threading.Thread | None = None
        self._loaded = _Loaded(NONE)

    @property
    def problem(self) -> str:
        """Why the chosen model cannot be loaded, or does not answer, a sentence; '' when nothing failed."""
        loaded = self._loaded
        if loaded.setting != self._choice():
            return ""
        return loaded.problem or (loaded.meaning.embedder.problem if loaded.meaning else "")

    def __call__(self) -> "Meaning | None":
        """Return the chosen model, None while it loads or when there is none."""
        loaded = self._loaded
        if loaded.setting == self._choice():
            return loaded.meaning
        if self._wait:
            return self.loaded()
        if self._may_begin.is_set() and (self._loader is None or not self._loader.is_alive()):
            self._loader = threading.Thread(target=self.loaded, name="load-embedder", daemon=True)
            self._loader.start()
        return None

    def hold_back(self) -> None:
        """Let no thread load the model: it would take the interpreter from what is being answered."""
        self._may_begin.clear()

    def begin(self) -> None:
        """End `hold_back`, and load the model as a call does."""
        self._may_begin.set()
        self()

    def loaded(self) -> "Meaning | None":
        """Return the chosen model, loading it if need be and waiting for `begin`; None when there is none."""
        self._may_begin.wait()
        with self._lock:
            setting = self._choice()
            if self._loaded.setting != setting:
                self._loaded = self._load(setting)
            return self._loaded.meaning

    def _load(self, setting: str) -> _Loaded:
        if setting == NONE:
            return _Loaded(NONE)
        try:
            embedder = self._load_embedder(setting)
            from mcp_server.adapters.index.search.semantic import Matrix, Meaning

            matrix = Matrix(embedder.model, embedder.dimensions)
            # Read before the first question: 100,000 vectors take a second.
            with contextlib.suppress(IndexUnavailable), self._database.read() as db:
                matrix.read(db)
            return _Loaded(setting, Meaning(embedder, matrix))
        except (DaybookError, ImportError, OSError) as error:
            return _Loaded(setting, problem=str(error))


def load_embedder(
    home: Path, setting: str, *, key: Callable[[], str] = str, own_network: bool = True
) -> Embedder:
    """
    Load the model of a setting; raises EmbedderUnavailable, ImportError without its library.

    *key* and *own_network* are for an endpoint, see `EndpointEmbedder`.
    """
    if endpoint := endpoint_of(setting):
        from mcp_server.adapters.endpoint_embedder import EndpointEmbedder

        return EndpointEmbedder(endpoint, key=key, own_network=own_network)
    from mcp_server.adapters.model_folder import find_model
    from mcp_server.adapters.onnx_embedder import OnnxEmbedder

    return OnnxEmbedder(find_model(home, setting))


def embedding_key(environment: Mapping[str, str], config: Mapping[str, object]) -> str:
    """Return the key of the endpoint that embeds: of *environment*, else of `config.toml`; '' for none."""
    return (
        environment.get("EMBEDDING_API_KEY", "").strip() or str(config.get("embedding_api_key") or "").strip()
    )
