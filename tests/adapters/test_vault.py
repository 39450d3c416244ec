"""What lies in a vault, and what only seems to."""

from pathlib import Path

import pytest

from mcp_server.adapters.vault import Vault, confined
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import Level


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault that is reached through a link, with links in it that lead inside and outside."""
    real, outside = tmp_path / "real", tmp_path / "outside"
    for folder in (real / "knowledge" / "deep", outside / "deep"):
        folder.mkdir(parents=True)
    (tmp_path / "vault").symlink_to(real)
    (real / "knowledge" / "inside").symlink_to(real / "knowledge" / "deep")
    (real / "knowledge" / "out").symlink_to(outside)
    return Vault(key="v", root=tmp_path / "vault", level=Level.PROJECT)


@pytest.mark.parametrize(
    "place", ["knowledge/a.md", "knowledge/deep/a.md", "knowledge/inside/a.md", "missing/a.md", "a.md"]
)
def test_what_lies_in_the_vault_is_confined(vault: Vault, place: str) -> None:
    assert confined(vault, vault.root / place) == vault.root / place


@pytest.mark.parametrize(
    "place",
    [
        "knowledge/out/a.md",
        "knowledge/out/deep/a.md",
        "knowledge/inside/../../../outside/a.md",
        "knowledge/../../outside/a.md",
        "../outside/a.md",
        "../vault/../outside/a.md",
        "../vault2/a.md",
        "knowledge/out/../a.md",
    ],
)
def test_what_leads_out_of_the_vault_is_refused(vault: Vault, place: str) -> None:
    with pytest.raises(Rejected, match="leads out"):
        confined(vault, vault.root / place)
