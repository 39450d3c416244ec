"""A team in an empty database for each test; each file is skipped where PostgreSQL's library is missing."""

from pathlib import Path

import pytest

try:
    from tests.team_database.teams import opened, url
except pytest.skip.Exception as missing:  # raised here, it would end the whole run
    reason = str(missing)

    class SkippedModule(pytest.Module):
        """A file of tests that cannot even be imported."""

        def collect(self) -> list[pytest.Item]:
            pytest.skip(reason, allow_module_level=True)

    def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
        return SkippedModule.from_parent(parent, path=module_path)

else:
    __all__ = ["opened", "url"]
