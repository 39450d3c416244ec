"""Which two titles count in one series, and which say another version or value of the same thing."""

import pytest

from mcp_server.core.text.series import enumerates


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sprint 12 closed 5 tickets", "Sprint 13 closed 7 tickets"),
        ("Ticket ABC-1 is done", "Ticket ABC-2 is done"),
        ("The outage is tracked in OPS-1182", "The outage is tracked in OPS-1190"),
        ("Server 1", "Server 2"),
        ("Server 1 is in Berlin", "Server 2 is in Berlin"),
        ("Step 3 of the release: tag the commit", "Step 4 of the release: tag the commit"),
        ("RFC 7231 defines HTTP semantics", "RFC 7230 defines HTTP syntax"),
        ("The gateway is written after RFC 7231", "The gateway is written after RFC 7230"),
        ("Migration 0012 must run before the deploy", "Migration 0013 must run before the deploy"),
        ("Release 1.2 shipped on a Monday", "Release 1.3 shipped on a Monday"),
        ("Version 1.2 dropped XML", "Version 1.3 dropped YAML"),
        ("Anna is on call in week 32", "Anna is on call in week 33"),
        ("Bug #4711 is in the parser", "Bug #4712 is in the parser"),
        ("Node 3 has 64 GB", "Node 4 has 64 GB"),
        ("Build agent linux-01 runs Docker", "Build agent linux-02 runs Docker"),
        ("Error E1001 means expired", "Error E1002 means malformed"),
        ("Drucker 1 steht im Büro", "Drucker 2 steht im Lager"),
        ("2026-01-05 the team agreed on the budget", "2026-01-12 the team agreed on the budget"),
        ("Q1 goal: fewer pages", "Q2 goal: fewer bugs"),
    ],
)
def test_counters_dates_and_identifiers_tell_siblings_apart(one: str, other: str) -> None:
    assert enumerates(one, other) and enumerates(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The staging database is Postgres 15", "The staging database is Postgres 16"),
        ("Postgres 15", "Postgres 16"),
        ("Node 22 is required", "Node 24 is required"),
        ("Node.js 22 is required", "Node.js 24 is required"),
        ("Python 3.11 is the minimum", "Python 3.12 is the minimum"),
        ("Python3.11 is the minimum", "Python3.12 is the minimum"),
        ("TLS 1.2 is the minimum", "TLS 1.3 is the minimum"),
        ("The app requires Android 9", "The app requires Android 11"),
        ("Nimbus 2.4 is deployed", "Nimbus 2.5 is deployed"),
        ("The API listens on port 8080", "The API listens on port 9090"),
        ("Port 8080", "Port 9090"),
        ("Upload timeout 30 seconds", "Upload timeout 60 seconds"),
        ("Upload size 20 MB", "Upload size 75 MB"),
        ("Passwords are hashed with cost 10", "Passwords are hashed with cost 12"),
        ("The public API is at v2", "The public API is at v3"),
        ("Le serveur est sous Debian 11", "Le serveur est sous Debian 12"),
    ],
)
def test_a_version_or_a_value_is_another_word_about_the_same_thing(one: str, other: str) -> None:
    assert not enumerates(one, other) and not enumerates(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The timeout is 30 seconds", "The timeout is 60 seconds"),
        ("Sprint 12", "Release 13"),
        ("Sprint 12 began late", "Sprint 12 ended late"),
    ],
)
def test_other_words_and_equal_numbers_are_no_series(one: str, other: str) -> None:
    assert not enumerates(one, other)
