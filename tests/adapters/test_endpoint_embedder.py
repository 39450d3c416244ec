"""A model behind an endpoint: what is asked of it, and everything that it may do instead of answering."""

import json
import math
import shutil
import struct
import threading
from pathlib import Path

import pytest

from mcp_server.adapters.endpoint_embedder import MOST_BYTES, MOST_TEXTS, EndpointEmbedder
from mcp_server.core.embedding_models import Endpoint
from mcp_server.core.errors import EmbedderUnavailable
from tests.certificate import certified
from tests.embedding_endpoint import NAME, answer, embeds, vector
from tests.patience import PATIENCE
from tests.scripted_model import RESET, Answer, ScriptedModel

KEY = "the-key-of-the-endpoint"
GOOD = answer([3.0, 4.0])


def embedder(server: ScriptedModel, dimensions: int = 2, **more: object) -> EndpointEmbedder:
    return EndpointEmbedder(Endpoint(server.url, NAME, dimensions), **more)  # type: ignore[arg-type]


def refusal(server: ScriptedModel, **more: object) -> str:
    with pytest.raises(EmbedderUnavailable) as refused:
        embedder(server, **more).embed_queries(["quagga"])
    assert server.url in str(refused.value)
    assert "quagga" not in str(refused.value)
    return str(refused.value)


def numbers(vector_bytes: bytes) -> list[float]:
    return [number for (number,) in struct.iter_unpack("<f", vector_bytes)]


def test_texts_are_asked_as_openai_does_and_vectors_have_length_one() -> None:
    with ScriptedModel(embeds(8)) as server:
        embedded = embedder(server, 8).embed_queries(["quagga", "zebra"])

    (request,) = server.asked
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": NAME, "input": ["quagga", "zebra"]}
    assert "authorization" not in request.headers
    for text, (whole, tokens) in zip(["quagga", "zebra"], embedded, strict=True):
        length = math.hypot(*vector(text))
        assert numbers(whole) == pytest.approx([number / length for number in vector(text)], abs=1e-6)
        assert tokens == b""


def test_the_key_goes_along_as_it_is_at_that_moment() -> None:
    keys = ["first", "second"]
    with ScriptedModel([GOOD]) as server:
        endpoint = embedder(server, key=lambda: keys.pop(0))
        endpoint.embed_queries(["a"])
        endpoint.embed_passages(["b"])

    assert [request.headers["authorization"] for request in server.asked] == ["Bearer first", "Bearer second"]


@pytest.mark.skipif(not shutil.which("openssl"), reason="a certificate needs openssl, which is not here")
def test_over_tls_only_who_has_a_certificate_that_the_person_trusts_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = certified(tmp_path)
    with ScriptedModel([GOOD]) as server:
        server.socket = certificate.context().wrap_socket(server.socket, server_side=True)
        endpoint = Endpoint(server.url.replace("http:", "https:"), NAME, 2)
        with pytest.raises(EmbedderUnavailable, match="could not be reached"):
            EndpointEmbedder(endpoint).embed_queries(["a"])
        assert not server.asked

        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
        ((whole, _),) = EndpointEmbedder(endpoint).embed_queries(["a"])

    assert numbers(whole) == pytest.approx([0.6, 0.8])


def test_the_endpoint_is_asked_for_its_dimensions_once() -> None:
    with ScriptedModel(embeds(12)) as server:
        endpoint = embedder(server, 0)

    assert endpoint.dimensions == 12
    assert endpoint.model == Endpoint(server.url, NAME, 12).model
    assert server.calls == 1


def test_many_passages_go_in_several_requests() -> None:
    words = [f"word{number}" for number in range(2 * MOST_TEXTS + 1)]
    with ScriptedModel(embeds(8)) as server:
        embedded = embedder(server, 8).embed_passages(words)

    assert [len(request.body["input"]) for request in server.asked] == [MOST_TEXTS, MOST_TEXTS, 1]
    assert numbers(embedded[-1].vector) == pytest.approx(
        [part / math.hypot(*vector(words[-1])) for part in vector(words[-1])], abs=1e-6
    )


def test_vectors_are_matched_to_texts_by_their_index() -> None:
    data = [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]
    with ScriptedModel([Answer(body=json.dumps({"data": data}).encode())]) as server:
        embedded = embedder(server).embed_queries(["a", "b"])

    assert [numbers(passage.vector) for passage in embedded] == [[1.0, 0.0], [0.0, 1.0]]


def test_no_secret_is_sent_and_no_half_character() -> None:
    with ScriptedModel([GOOD]) as server:
        embedder(server).embed_passages(["The key is AKIAQ3EGRXP6DNQTEZXV.\ud800"])
        embedder(server).embed_passages([""])

    first, second = (request.body["input"] for request in server.asked)
    assert first == ["The key is [secret removed: an AWS access key].?"]
    assert second == [" "]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (answer(), "gave 0 vectors that do not belong to the 1 texts"),
        (answer([1.0, 0.0], [0.0, 1.0]), "gave 2 vectors"),
        (answer([1.0, 0.0, 0.0]), "gave a vector of 3 numbers instead of 2: its model has changed"),
        (answer([1.0]), "gave a vector of 1 numbers"),
        (answer([float("nan"), 1.0]), "something other than numbers"),
        (answer([float("inf"), 1.0]), "something other than numbers"),
        (answer([10**400, 1.0]), "something other than numbers"),
        (answer(["1", 1.0]), "something other than numbers"),
        (answer([True, 1.0]), "something other than numbers"),
        (answer([0.0, 0.0]), "gave a vector of zeros"),
        (answer("quagga"), "gave a vector of 6 numbers"),
        (answer(None), "without vectors"),
        (Answer(body=b"{}"), "without vectors"),
        (Answer(body=b'{"data": [7]}'), "without vectors"),
        (Answer(body=b'{"data": [{"index": "0", "embedding": [1, 0]}]}'), "do not belong"),
        (Answer(body=b"[" * 100_000), "without vectors"),
        (Answer(body=b"<html>quagga"), "without vectors"),
        (Answer(body=b" " * (MOST_BYTES + 1)), "more than 16,777,216 bytes"),
        (Answer(401, b'{"error": "quagga"}'), r"refused the key, or asks for one \(HTTP 401\)"),
        (Answer(404, b"quagga"), f"lacks the model '{NAME}'"),
        (Answer(500, b"quagga"), "answered with HTTP 500"),
        (RESET, "did not answer"),
    ],
)
def test_a_wrong_answer_is_one_sentence(wrong: Answer, sentence: str) -> None:
    with ScriptedModel([wrong]) as server, pytest.raises(EmbedderUnavailable, match=sentence) as refused:
        embedder(server).embed_queries(["quagga"])

    assert "quagga" not in str(refused.value)


def test_where_nobody_listens_it_cannot_be_reached() -> None:
    with ScriptedModel([GOOD]) as server:
        pass

    assert "could not be reached" in refusal(server)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_is_not_followed(status: int) -> None:
    with ScriptedModel([GOOD]) as elsewhere:
        leads = Answer(status, headers={"location": f"{elsewhere.url}/v1/embeddings"})
        with ScriptedModel([leads]) as server:
            assert "redirects to another address" in refusal(server, key=lambda: KEY)

    assert elsewhere.calls == 0


def test_this_machine_is_never_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModel([GOOD]) as proxy, ScriptedModel([GOOD]) as server:
        for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        embedder(server, own_network=True).embed_queries(["quagga"])

    assert (proxy.calls, server.calls) == (0, 1)


@pytest.mark.parametrize("drip", ["head", "body"])
def test_an_answer_that_comes_byte_by_byte_ends_at_the_deadline(drip: str) -> None:
    with ScriptedModel([Answer(body=b" " * 10_000, drip=drip)]) as server:
        assert "did not answer within 0.5 seconds" in refusal(server, deadline=0.5)


def test_a_question_does_not_wait_and_the_next_finds_the_model_loaded() -> None:
    loaded = threading.Event()
    with ScriptedModel([answer([3.0, 4.0], after=loaded), GOOD]) as server:
        endpoint = embedder(server)
        with pytest.raises(EmbedderUnavailable, match=r"within 0\.05 seconds"):
            endpoint.embed_queries(["quagga"], patience=0.05)
        with pytest.raises(EmbedderUnavailable, match="has not answered the last question yet"):
            endpoint.embed_queries(["zebra"], patience=PATIENCE)
        assert server.calls == 1
        loaded.set()
        late = endpoint._availability.late
        assert late
        late.result(PATIENCE)

        assert len(endpoint.embed_queries(["okapi"], patience=PATIENCE)) == 1
        assert endpoint.problem == ""


def test_passages_are_sent_again_to_an_endpoint_that_was_overloaded() -> None:
    with ScriptedModel([Answer(503), RESET, GOOD]) as server:
        endpoint = embedder(server)
        assert len(endpoint.embed_passages(["quagga"])) == 1

    assert server.calls == 3
    assert endpoint.problem == ""


@pytest.mark.parametrize("refused", [Answer(401), Answer(429, headers={"retry-after": "30"})])
def test_what_would_not_help_is_not_sent_again(refused: Answer) -> None:
    with ScriptedModel([refused]) as server, pytest.raises(EmbedderUnavailable):
        embedder(server).embed_passages(["quagga"])

    assert server.calls == 1


def test_after_a_failure_it_is_left_alone_for_a_while_and_then_asked_again() -> None:
    with ScriptedModel([Answer(500), Answer(500), GOOD]) as server:
        endpoint = embedder(server, rests=(0.0, 3600.0))
        for calls in (1, 2, 2):  # the first rest has no length
            with pytest.raises(EmbedderUnavailable, match="HTTP 500"):
                endpoint.embed_queries(["quagga"])
            assert server.calls == calls
        assert "HTTP 500" in endpoint.problem

        again = embedder(server, rests=(3600.0,))
        assert len(again.embed_queries(["quagga"])) == 1


@pytest.mark.parametrize("moment", ["3600", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_an_endpoint_that_asks_for_a_longer_rest_gets_it(moment: str) -> None:
    with ScriptedModel([Answer(429, headers={"retry-after": moment}), GOOD]) as server:
        endpoint = embedder(server, rests=(0.0,))
        for _ in range(2):
            with pytest.raises(EmbedderUnavailable, match="HTTP 429"):
                endpoint.embed_queries(["quagga"])

    assert server.calls == 1
