"""
The embedding models of a process: the one that answers, and the one that is to answer next.

Which one answers stands in the index, so that all processes change over together; which one is
chosen stands in the settings, and may change while a process runs.
"""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_server.adapters.index.database.database import Database
from mcp_server.adapters.index.search import vectors
from mcp_server.adapters.index.search.vectors import Answering
from mcp_server.core.embedding_models import NONE
from mcp_server.core.errors import DaybookError, IndexUnavailable
from mcp_server.core.ports import Embedder

if TYPE_CHECKING:
    from mcp_server.adapters.index.search.semantic import Meaning


class Meanings:
    """
    Call it for the model that answers with its vectors; each model is loaded once for a process.

    *choice* returns the setting at this moment. *wait*: a call loads the model; otherwise it is loaded
    beside, and there is none until then.
    """

    def __init__(self, choice: Callable[[], str], home: Path, database: Database, *, wait: bool) -> None:
        self._choice = choice
        self._home = home
        self._database = database
        self._wait = wait
        self._lock = threading.Lock()
        self._loading: set[str] = set()
        self._loaded: dict[str, Meaning] = {}
        self._failed: dict[str, str] = {}

    @property
    def problem(self) -> str:
        """Why the chosen model or the one that answers is not there; '' when nothing failed."""
        told = self._told()
        return self._failed.get(self._choice(), "") or (self._failed.get(told.setting, "") if told else "")

    def __call__(self) -> "Meaning | None":
        """
        Return the model that answers, None while it loads or when there is none.

        One that cannot be loaded any more is replaced by the chosen one, with what it has of vectors.
        """
        chosen, told = self._choice(), self._told()
        if chosen == NONE:
            return None
        for setting in dict.fromkeys([told.setting if told else chosen, chosen]):
            if setting in self._failed:
                continue
            if setting not in self._loaded:
                if not self._wait:
                    self._load_beside(setting)
                    return None
                self._load(setting)
                return self()  # loading takes a while: another process may have changed over meanwhile
            found = self._loaded[setting]
            if told is None or setting == chosen or found.embedder.model == told.model:
                return found
        return None

    def chosen(self) -> Embedder | None:
        """Return the model that is chosen, loading it if need be, None when there is none; drops others."""
        chosen, told = self._choice(), self._told()
        for setting in [each for each in self._loaded if each not in (chosen, told and told.setting)]:
            self._loaded.pop(setting, None)
        if chosen != NONE and chosen not in self._failed:
            self._load(chosen)
        found = self._loaded.get(chosen)
        return found.embedder if found else None

    def _told(self) -> Answering | None:
        try:
            with self._database.read() as db:
                return vectors.answering(db)
        except DaybookError:
            return None

    def _load_beside(self, setting: str) -> None:
        with self._lock:
            if setting in self._loading:
                return
            self._loading.add(setting)
        threading.Thread(target=self._load, args=(setting,), name="load-embedder", daemon=True).start()

    def _load(self, setting: str) -> None:
        with self._lock:
            if setting in self._loaded or setting in self._failed:
                return
            try:
                embedder = load_embedder(self._home, setting)
                from mcp_server.adapters.index.search.semantic import Matrix, Meaning

                matrix = Matrix(embedder.model, embedder.dimensions)
                # Before anybody can ask: reading 100,000 vectors takes a second.
                with contextlib.suppress(IndexUnavailable), self._database.read() as db:
                    matrix.read(db)
                self._loaded[setting] = Meaning(embedder, matrix)
            except (DaybookError, ImportError, OSError) as error:
                self._failed[setting] = str(error)
            self._loading.discard(setting)


def load_embedder(home: Path, setting: str) -> Embedder:
    """Load the model of a setting; raises EmbedderUnavailable, ImportError without its library."""
    from mcp_server.adapters.model_folder import find_model
    from mcp_server.adapters.onnx_embedder import OnnxEmbedder

    return OnnxEmbedder(find_model(home, setting))
