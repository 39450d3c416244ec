"""Which names services for synchronising give to conflict copies."""

import pytest

from mcp_server.core.conflict_copies import original_of


@pytest.mark.parametrize(
    "copy",
    [
        "plan.sync-conflict-20261120-091203-ABCDEFG.md",  # Syncthing
        "plan.sync-conflict-20261120-091203.md",
        "plan (conflicted copy).md",
        "plan (Ada's conflicted copy 2026-11-20).md",  # Dropbox
        "plan (Ada's conflicted copy 2026-11-20) (1).md",
        "plan (In Konflikt stehende Kopie von Ada 2026-11-20).md",
        "plan (Copie en conflit de Ada 2026-11-20).md",
        "plan (copia en conflicto de Ada 2026-11-20).md",
        "plan (Ada の競合コピー 2026-11-20).md",
        "plan (conflicted copy 2026-11-20 091203).md",  # Nextcloud
        "plan (case clash from Ada).md",
        "plan_conflict-20261120-091203.md",  # ownCloud
        "plan (SFConflict ada@x.example 2026-11-20-09-12-03).md",  # Seafile
    ],
)
def test_a_conflict_copy_is_told_by_its_name(copy: str) -> None:
    assert original_of(copy) == "plan.md"


def test_a_copy_of_the_ledger_is_told_as_well() -> None:
    assert original_of("laptop-2026-11.sync-conflict-20261120-091203-ABC.jsonl") == "laptop-2026-11.jsonl"


@pytest.mark.parametrize(
    "name",
    [
        "plan.md",
        "plan 2.md",
        "plan (1).md",
        "plan-PC.md",
        "how-dropbox-names-a-conflicted-copy-k3f9.md",
        "What a conflicted copy is.md",
        "Plans (resolving a conflict).md",
        "Copies (2026-11-20).md",
        "sync-conflict-notes.md",
        "(conflicted copy).md",
    ],
)
def test_another_name_is_none(name: str) -> None:
    assert original_of(name) == ""
