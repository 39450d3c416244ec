"""A model behind an endpoint as a setting: what may be named, and what memories are never sent to."""

import pytest

from mcp_server.core.embedding_models import Endpoint, endpoint_of
from mcp_server.core.errors import SettingsError
from mcp_server.core.settings import parse_settings


@pytest.mark.parametrize(
    ("setting", "endpoint", "called"),
    [
        (
            "http://localhost:11434#nomic-embed-text",
            Endpoint("http://localhost:11434", "nomic-embed-text"),
            "http://localhost:11434/v1/embeddings",
        ),
        (
            "http://127.0.0.1:8080/v1/#BAAI/bge-m3:latest#1024",
            Endpoint("http://127.0.0.1:8080/v1/", "BAAI/bge-m3:latest", 1024),
            "http://127.0.0.1:8080/v1/embeddings",
        ),
        (
            "https://api.openai.com/v1#text-embedding-3-small#1536",
            Endpoint("https://api.openai.com/v1", "text-embedding-3-small", 1536),
            "https://api.openai.com/v1/embeddings",
        ),
    ],
)
def test_an_endpoint_is_an_address_and_a_name(setting: str, endpoint: Endpoint, called: str) -> None:
    assert endpoint_of(setting) == endpoint
    assert endpoint.embeddings == called
    assert endpoint.setting == setting


@pytest.mark.parametrize("setting", ["minilm-l6", "none", "/a/folder", "quagga"])
def test_what_names_no_address_is_no_endpoint(setting: str) -> None:
    assert endpoint_of(setting) is None


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("http://example.com#m", "only over https"),
        ("http://192.168.1.7:11434#m", "only over https"),
        ("http://localhost.example.com#m", "only over https"),
        ("https://me:secret@example.com#m", "must not contain a name or password"),
        ("http://localhost@example.com#m", "must not contain a name or password"),
        ("ftp://localhost#m", "ADDRESS#NAME"),
        ("https://#m", "ADDRESS#NAME"),
        ("https://example.com:0#m", "ADDRESS#NAME"),
        ("https://example.com:port#m", "ADDRESS#NAME"),
        ("https://example.com/v1?key=1#m", "ADDRESS#NAME"),
        ("https://exämple.com#m", "ADDRESS#NAME"),
        ("http://localhost\\.example.com#m", "ADDRESS#NAME"),
        ("https://example\n.com#m", "ADDRESS#NAME"),
        ("https://exa mple.com#m", "ADDRESS#NAME"),
        ("https://example.com", "Write '#' and the model's name after"),
        ("https://example.com#", "Write '#' and the model's name after"),
        ("https://example.com#a\nb", "Write '#' and the model's name after"),
        (f"https://example.com#{'m' * 201}", "Write '#' and the model's name after"),
        ("https://example.com#m#0", "is not a number of dimensions"),
        ("https://example.com#m#many", "is not a number of dimensions"),
        ("https://example.com#m#99999", "is not a number of dimensions"),
    ],
)
def test_memories_go_nowhere_else(setting: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        endpoint_of(setting)
    with pytest.raises(SettingsError, match=sentence):
        parse_settings({}, {"embedding_model": setting})


def test_vectors_of_another_address_name_or_dimension_have_another_name() -> None:
    endpoints = [
        Endpoint("http://localhost:1", "m", 8),
        Endpoint("http://localhost:2", "m", 8),
        Endpoint("http://localhost:1", "n", 8),
        Endpoint("http://localhost:1", "m", 9),
    ]
    assert len({endpoint.model for endpoint in endpoints}) == 4


def test_a_variable_names_no_endpoint_and_the_file_does() -> None:
    setting = "http://localhost:1#m#8"

    assert parse_settings({}, {"embedding_model": setting}).embedding_model == setting
    with pytest.raises(SettingsError, match="only the person may"):
        parse_settings({"EMBEDDING_MODEL": setting}, {})


def test_what_was_not_asked_for_its_dimensions_is_no_setting() -> None:
    with pytest.raises(SettingsError, match="lacks the number of dimensions") as refused:
        parse_settings({}, {"embedding_model": "http://localhost:1#m"})
    assert "daybook model use" in refused.value.hint
