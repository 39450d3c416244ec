"""Words of any script are found, however they are spelt; without an embedding model."""

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Confidence, Query
from mcp_server.core.text.words import folded, query_terms
from mcp_server.store import Store

MEMORIES = {
    "chinese": "数据库迁移 | 部署之前必须先备份数据库,然后运行迁移脚本。",
    "japanese": "検索の設定 | 全文検索のインデックスは毎晩作り直します。黒猫がいる。人々のデータ",
    "half width": "ﾃｽﾄ | ﾊﾟｽﾜｰﾄﾞ と ＡＰＩ の鍵",
    "korean": "배포 절차 | 배포하기 전에 데이터베이스를 백업합니다.",
    "russian": "Резервная копия | Перед развёртыванием скопируй базы данных; мой ключ.",
    "greek": "Δίκτυο | Η ΟΔΟΣ του δικτύου είναι κλειστή.",
    "german": "Straßenname | Die Straße heißt Größe.",
    "turkish": "İstanbul ofisi | Işık açık.",
    "vietnamese": "Cơ sở dữ liệu | Phải sao lưu trước khi triển khai.",
    "arabic": "نسخة احتياطية | يجب عمل نسخة احتياطية قبل النشر",
    "hindi": "डेटाबेस | बैकअप लेना ज़रूरी है",
    "mixed": "Redis缓存策略 | 用户sessionStore存在Redis里,过期时间30分钟。Конфиг лежит в /etc/nginx.",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, dict[str, str]]]:
    """A store with these memories, and which of them each id is; the tests only read it."""
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "shop").mkdir()
    environment = {"MEMORY_DIR": str(folder / "memory"), "EMBEDDING_MODEL": "none"}
    opened = Opened(environment, folder=folder / "shop")
    ids = {}
    for name, memory in MEMORIES.items():
        title, _, text = memory.partition(" | ")
        ids[remember(opened.store(), Draft(title, text)).memory.id] = name
    yield opened.store(), ids
    opened.database.close()


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("chinese", "数据库"),
        ("chinese", "备份"),
        ("chinese", "如何备份数据库?"),
        ("chinese", "脚"),
        ("japanese", "検索"),
        ("japanese", "全文検索の作り方"),
        ("japanese", "猫"),
        ("japanese", "人々"),
        ("japanese", "ｲﾝﾃﾞｯｸｽ"),
        ("half width", "パスワード"),
        ("half width", "api"),
        ("half width", "鍵"),
        ("korean", "데이터베이스"),
        ("korean", "백업"),
        ("russian", "РЕЗЕРВНАЯ КОПИЯ"),
        ("russian", "развёртыванием"),
        ("russian", "развертыванием"),
        ("russian", "МОЙ ключ"),
        ("greek", "οδός"),
        ("greek", "ΔΙΚΤΥΟΥ"),
        ("german", "strasse"),
        ("german", "STRASSE"),
        ("german", "straße"),
        ("german", "grösse"),
        ("turkish", "istanbul"),
        ("turkish", "İSTANBUL"),
        ("vietnamese", "co so du lieu"),
        ("vietnamese", "dữ liệu"),
        ("arabic", "نسخة"),
        ("hindi", "बैकअप"),
        ("mixed", "redis缓存"),
        ("mixed", "session"),
        ("mixed", "sessionstore"),
        ("mixed", "конфиг NGINX"),
    ],
)
def test_a_word_finds_its_memory_whatever_its_script(
    filled: tuple[Store, dict[str, str]], name: str, question: str
) -> None:
    store, ids = filled

    answer = recall(store, Query(question))

    assert [ids[hit.id] for hit in answer.hits][:1] == [name]
    assert answer.verdict is not Confidence.NONE


def test_a_run_of_characters_is_no_word_by_itself() -> None:
    assert query_terms("用户session存在") == ["用户", "session", "存在"]
    assert query_terms("redis缓存策略") == ["redis", "缓存", "存策", "策略"]


@given(st.text(max_size=40))
@example("ǅ ﬁ ẞ İ Σς")
def test_all_spellings_of_a_word_have_one_form(word: str) -> None:
    form = folded(word)

    assert folded(form) == form


@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lo"]), min_size=1, max_size=12))
def test_case_never_hides_a_word(word: str) -> None:
    assert folded(word.lower()) == folded(word)
