"""A member's machine keeps one connection to the team's server, behind a proxy that does TLS."""

from collections.abc import Iterator

import pytest

from mcp_server.adapters import http_request
from mcp_server.adapters.team_client import TeamClient
from mcp_server.core.errors import StorageUnavailable
from mcp_server.core.search.query import Query
from mcp_server.core.team.team import Role
from tests.certificate import Certificate, certified
from tests.patience import PATIENCE
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.test_roles import memory
from tests.team_server.tls_proxy import TlsProxy, behind_tls

QUESTION = Query("body parsing")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certified(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def proxy(address: str, certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> Iterator[TlsProxy]:
    """A proxy whose certificate the person trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
    with behind_tls(address, certificate) as proxy:
        yield proxy


@pytest.fixture
def willi(proxy: TlsProxy, tokens: dict[Role, str]) -> TeamClient:
    return TeamClient(proxy.address, tokens[Role.WRITER], deadline=PATIENCE)


def test_two_questions_take_one_connection(proxy: TlsProxy, willi: TeamClient) -> None:
    for _ in range(2):
        willi.search(QUESTION, patience=PATIENCE)
    willi.page()
    assert proxy.connections == 1


def test_a_connection_that_was_closed_meanwhile_is_made_anew(proxy: TlsProxy, willi: TeamClient) -> None:
    willi.search(QUESTION)
    proxy.hang_up()
    willi.search(QUESTION)
    assert (proxy.connections, willi.problem) == (2, "")


def test_a_question_that_meets_the_closing_is_sent_again_once(proxy: TlsProxy, willi: TeamClient) -> None:
    willi.search(QUESTION)
    proxy.hangs_up_at_next.set()
    willi.search(QUESTION)
    assert (proxy.connections, willi.problem) == (2, "")


def test_on_a_new_connection_nothing_is_sent_again(proxy: TlsProxy, willi: TeamClient) -> None:
    proxy.hangs_up_at_next.set()
    with pytest.raises(StorageUnavailable, match="did not answer"):
        willi.search(QUESTION)
    assert proxy.connections == 1


def test_a_write_has_a_connection_of_its_own_and_is_sent_once(
    team: MinimalTeam, proxy: TlsProxy, willi: TeamClient
) -> None:
    willi.search(QUESTION)
    stored = willi.save(memory())
    assert proxy.connections == 2
    proxy.hangs_up_at_next.set()
    with pytest.raises(StorageUnavailable, match="did not answer"):
        willi.forget("webhook", digest=stored.digest)
    assert proxy.connections == 3
    assert willi.load("webhook") == stored
    assert proxy.connections == 3


def test_a_connection_that_was_idle_for_long_is_not_used(
    proxy: TlsProxy, willi: TeamClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_request, "LONGEST_IDLE", 0.0)
    for _ in range(2):
        willi.search(QUESTION)
    assert proxy.connections == 2


def test_a_certificate_that_the_person_does_not_trust_is_refused(
    proxy: TlsProxy, tokens: dict[Role, str]
) -> None:
    stranger = TeamClient(proxy.address, tokens[Role.WRITER], own_network=False, deadline=PATIENCE)
    with pytest.raises(StorageUnavailable, match="could not be reached"):
        stranger.search(QUESTION)
