"""Who may ask a team's server, and how much: tokens, names, rates, sizes, and what is no request."""

import json
import re

import httpx2
import pytest

from mcp_server.core.memory_parts import MAX_TEXT
from mcp_server.core.team.team import Role
from mcp_server.core.team.wire import MOST_REQUEST
from mcp_server.doors.team_server.gate import MOST_KNOWN, Rates
from tests.patience import PATIENCE
from tests.team_server.asking import calling, headers, post, raw
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.served import served


def test_who_has_a_token_is_known_by_name(address: str, tokens: dict[Role, str]) -> None:
    response = post(address, tokens[Role.WRITER])
    assert response.status_code == 200
    assert response.json()["result"]["structuredContent"] == {
        "name": "Quaggas",
        "member": "willi",
        "role": "writer",
        "curators": ["carla"],
        "model": "",
    }


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer wrong", "Basic cm9zYTpyb3Nh", "Bearer " + "a" * 5_000, "Bearer \xe9"],
)
def test_without_a_token_of_the_team_nothing_is_told(
    address: str, tokens: dict[Role, str], authorization: str
) -> None:
    response = post(address, "", authorization=authorization.encode("latin-1"))  # type: ignore[arg-type]
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["kind"] == "NotAllowed"
    assert "rosa" not in response.text


def test_a_token_in_the_address_counts_for_nothing(address: str, tokens: dict[Role, str]) -> None:
    response = post(address, "wrong", path=f"/mcp?token={tokens[Role.CURATOR]}")
    assert response.status_code == 401


def test_a_withdrawn_token_works_no_longer_from_that_moment_on(
    address: str, team: MinimalTeam, tokens: dict[Role, str]
) -> None:
    assert post(address, tokens[Role.READER]).status_code == 200
    team.withdraw("rosa")
    response = post(address, tokens[Role.READER])
    assert response.status_code == 401
    assert "withdrawn" in response.json()["sentence"]
    assert post(address, tokens[Role.WRITER]).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8420", "[::1]:1", "LOCALHOST"])
def test_names_of_this_machine_are_answered(address: str, tokens: dict[Role, str], host: str) -> None:
    assert post(address, tokens[Role.READER], host=host).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "team.example.org", "[", "\x00", ""]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(
    address: str, tokens: dict[Role, str], host: str
) -> None:
    response = raw(address, _bytes(tokens[Role.READER], host=host))
    assert re.match(rb"HTTP/1.1 (421|400) ", response)
    assert b"Quaggas" not in response


def _bytes(token: str, **more: str) -> bytes:
    body = json.dumps(calling("team")).encode()
    named = {**headers(token), "content-length": str(len(body)), "connection": "close", **more}
    lines = ["POST /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in named.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def test_a_name_that_the_administrator_gave_is_answered(team: MinimalTeam, tokens: dict[Role, str]) -> None:
    with served(team, names=["Team.example.org", "other.example.com:8420", "fe80::1"]) as address:
        for host in (
            "team.example.org",
            "team.example.org:443",
            "127.0.0.1",
            "other.example.com",
            "[fe80::1]",
        ):
            assert post(address, tokens[Role.READER], host=host).status_code == 200
        refused = post(address, tokens[Role.READER], host="other.example.org")
        assert refused.status_code == 421
        assert "--host-name" in refused.json()["hint"]


def test_a_page_of_another_site_cannot_ask(address: str, tokens: dict[Role, str]) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1.evil.example"):
        assert post(address, tokens[Role.READER], origin=origin).status_code == 403
    assert post(address, tokens[Role.READER], origin=address).status_code == 200


def test_a_token_asks_so_often_a_minute_and_no_more(team: MinimalTeam, tokens: dict[Role, str]) -> None:
    with served(team, each_minute=3) as address:
        assert [post(address, tokens[Role.READER]).status_code for _ in range(3)] == [200] * 3
        response = post(address, tokens[Role.READER])
        assert response.status_code == 429
        assert 1 <= int(response.headers["retry-after"]) <= 20
        assert "too often" in response.json()["sentence"]
        assert post(address, tokens[Role.WRITER]).status_code == 200, "each token for itself"


def test_a_token_may_ask_again_as_time_goes_on() -> None:
    clock = [0.0]
    rates = Rates(60, lambda: clock[0])
    assert [rates.wait(b"a") for _ in range(60)] == [0.0] * 60
    assert rates.wait(b"a") == pytest.approx(1.0)
    clock[0] = 0.5
    assert rates.wait(b"a") == pytest.approx(0.5)
    clock[0] = 1.0
    assert rates.wait(b"a") == 0.0
    assert rates.wait(b"a") > 0
    clock[0] = 10_000.0
    assert [rates.wait(b"a") for _ in range(61)].count(0.0) == 60


def test_a_million_tokens_do_not_fill_the_memory() -> None:
    rates = Rates(1, lambda: 0.0)
    for number in range(MOST_KNOWN + 10):
        rates.wait(str(number).encode())
    assert len(rates._left) == MOST_KNOWN


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "in parts"])
def test_a_request_beyond_the_limit_is_not_read(
    address: str, tokens: dict[Role, str], declared: bool
) -> None:
    body = json.dumps(calling("recall", text="a" * MOST_REQUEST)).encode()
    content = body if declared else (body[at : at + 65536] for at in range(0, len(body), 65536))
    try:
        response = httpx2.post(
            f"{address}/mcp", content=content, headers=headers(tokens[Role.READER]), timeout=PATIENCE
        )
        assert response.status_code == 413
        assert "1,048,576" in response.json()["sentence"]
    except (httpx2.WriteError, httpx2.ReadError):  # it was answered, and the rest of the body was cut off
        pass
    assert post(address, tokens[Role.READER]).status_code == 200


def test_the_longest_text_passes(address: str, tokens: dict[Role, str]) -> None:
    whole = calling("remember", title="Long", text="\U0001f993" * MAX_TEXT)
    body = json.dumps(whole, ensure_ascii=False).encode()
    result = post(address, tokens[Role.WRITER], body, mcp_name="remember").json()["result"]
    assert result["structuredContent"]["memory"]["text"] == "\U0001f993" * MAX_TEXT


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"[]",
        b"null",
        b'"a"',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 10_000,
        json.dumps([calling("team")] * 3).encode(),
        json.dumps({**calling("team"), "method": "tools/destroy"}).encode(),
        json.dumps({**calling("team"), "params": "a"}).encode(),
        json.dumps({**calling("team"), "id": {"a": 1}}).encode(),
        json.dumps({**calling("team"), "params": {"name": ["team"]}}).encode(),
    ],
    ids=range(14),
)
@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25", "1999-01-01"])
def test_what_is_no_request_is_refused_and_the_server_goes_on(
    address: str, tokens: dict[Role, str], body: bytes, version: str
) -> None:
    response = post(address, tokens[Role.READER], body or b" ", mcp_protocol_version=version)
    assert response.status_code in (200, 202, 400, 404)
    assert response.status_code == 202 or "error" in response.json() or response.json()["result"]["isError"]
    assert "Traceback" not in response.text
    assert post(address, tokens[Role.READER]).status_code == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n",
        b"\r\n\r\n",
        b"a" * 99_999,
    ],
)
def test_what_is_no_http_does_not_end_it(address: str, tokens: dict[Role, str], data: bytes) -> None:
    raw(address, data)
    assert post(address, tokens[Role.READER]).status_code == 200


def test_other_places_and_methods_are_refused(address: str, tokens: dict[Role, str]) -> None:
    token = headers(tokens[Role.READER])
    assert post(address, tokens[Role.READER], path="/").status_code == 404
    assert post(address, tokens[Role.READER], path="/mcp/../etc/passwd").status_code == 404
    for method in ("GET", "PUT", "DELETE", "OPTIONS"):
        for version in ("2026-07-28", "2025-11-25"):
            response = httpx2.request(
                method,
                f"{address}/mcp",
                headers={**token, "mcp-protocol-version": version},
                trust_env=False,
                timeout=PATIENCE,
            )
            assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_health_says_nothing_but_whether_it_serves(address: str, team: MinimalTeam) -> None:
    response = httpx2.get(f"{address}/health", headers={"host": "10.0.0.1"}, trust_env=False)
    assert (response.status_code, response.text) == (200, "ok\n")
    assert httpx2.post(f"{address}/health", trust_env=False).status_code == 405


def test_health_says_when_the_database_is_away(team: MinimalTeam) -> None:
    team.away = True
    with served(team) as address:
        response = httpx2.get(f"{address}/health", trust_env=False)
        assert (response.status_code, response.text) == (503, "unavailable\n")


def test_a_database_that_is_away_is_told_and_comes_back(
    address: str, team: MinimalTeam, tokens: dict[Role, str]
) -> None:
    team.away = True
    response = post(address, tokens[Role.READER])
    assert response.status_code == 503
    assert response.headers["retry-after"]
    assert response.json() == {
        "kind": "StorageUnavailable",
        "sentence": "The team's database does not answer.",
        "hint": response.json()["hint"],
    }
    team.away = False
    assert post(address, tokens[Role.READER]).status_code == 200
