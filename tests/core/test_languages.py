import pytest

from mcp_server.core.text.languages import FUNCTION_SETS, languages_of, stem
from mcp_server.core.text.words import folded, index_parts, is_foreign, query_terms, words


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", "Verbindung Verbindungen"),
        ("de", "Tag Tage Tagen Tages"),
        ("de", "Haus Hauses Häuser Häusern"),
        ("de", "löschen gelöscht löscht löschte"),
        ("de", "testen Test Tests getestet"),
        ("de", "migrieren migriert Migration Migrationen Migrierung"),
        ("fr", "connexion connexions"),
        ("fr", "journal journaux"),
        ("fr", "validé validée validées valider validation validations"),
        ("fr", "client cliente clients clientes"),
        ("es", "conexión conexiones"),
        ("es", "borrar borrado borrada borra borran borrando"),
        ("es", "imagen imágenes"),
        ("es", "cancelar cancelación cancelado"),
        ("ru", "соединение соединения соединений соединениями"),
        ("ru", "удалить удаляют удаление удалили"),
        ("ru", "таблица таблицы таблиц таблицах"),
        ("ru", "ключ ключа ключей ключами"),
    ],
)
def test_the_forms_of_a_word_are_one_without_their_endings(language: str, forms: str) -> None:
    assert len({stem(folded(form), language) for form in forms.split()}) == 1


@pytest.mark.parametrize("word", ["der", "es", "o", "я", "Haus", "status"])
def test_something_is_left_of_a_word_before_its_ending(word: str) -> None:
    assert all(len(stem(folded(word), language)) >= min(3, len(word)) for language in ("de", "fr", "es"))


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("Wie lange bleiben alte Dumps?", ("de",)),
        ("Où est la sauvegarde ?", ("fr",)),
        ("¿Dónde está la copia?", ("es",)),
        ("Где лежит ключ?", ("ru",)),
        ("Где лежит Redis cluster config?", ("ru",)),
        ("que worker", ("fr", "es")),
        ("Why did the process die in the pool?", ()),
        ("the war was in an algo", ()),
        ("deploy to prod", ()),
        ("kubectl get pods", ()),
        ("数据库迁移", ()),
        ("", ()),
    ],
)
def test_a_language_is_told_by_small_words_and_letters(text: str, languages: tuple[str, ...]) -> None:
    assert languages_of(text, frozenset(map(folded, words(text)))) == languages


def test_code_that_has_a_small_word_by_chance_is_in_no_other_language() -> None:
    code = " ".join(f"field{number}" for number in range(60))

    assert index_parts(f"{code} una") == index_parts(code)
    assert "una" not in FUNCTION_SETS["en"]


def test_small_words_of_a_question_are_left_out_in_its_own_language_only() -> None:
    assert query_terms("Wo ist die Sicherung?") == ["sicherung"]
    assert query_terms("Où est la sauvegarde ?") == ["sauvegarde"]
    assert query_terms("the process will die") == ["process", "die"]
    assert query_terms("der die das und") == ["der", "die", "das", "und"]


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Die Rechnung wird nachts erzeugt.", True),
        ("数据库在 Redis cluster 里", True),
        ("배포하기 전에 백업", True),
        ("Δίκτυο κλειστό", True),
        ("Deploys go through the pipeline.", False),
        ("naïve café", False),
        ("The title says 数据 once and then goes on in English for a while.", False),
        ("", False),
    ],
)
def test_it_is_told_whether_a_text_is_not_in_english(text: str, foreign: bool) -> None:
    assert is_foreign(text) is foreign
