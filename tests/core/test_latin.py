"""Ids of memories whose titles are in other scripts."""

from datetime import UTC, datetime

import pytest

from mcp_server.core.memory_parts import ID, id_of_name, new_id

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("title", "beginning"),
    [
        ("Развёртывание в пятницу", "razvyortyvanie-v-pyatnitsu-"),
        ("Ключи от API", "klyuchi-ot-api-"),
        ("Η αποθήκη κλειδιών", "i-apothiki-kleidion-"),
        ("デプロイ", "depuroi-"),
        ("배포 규칙", "baepo-gyucig-"),
        ("Straße und Øl", "strasse-und-ol-"),
        ("Café réglé", "cafe-regle-"),
        ("قاعدة البيانات", "qaada-albyanat-"),
        ("ترجمه‌ی فارسی", "trjmhy-farsy-"),
        ("מסד נתונים", "msd-ntvnym-"),
        ("数据库", "memory-"),
        ("数据库 PostgreSQL", "postgresql-"),
    ],
)
def test_a_title_in_another_script_makes_a_telling_id(title: str, beginning: str) -> None:
    memory_id = new_id(title, "text", NOON)

    assert memory_id.startswith(beginning)
    assert ID.fullmatch(memory_id)


def test_files_that_name_no_id_keep_theirs() -> None:
    assert id_of_name("straße").startswith("strae-")
