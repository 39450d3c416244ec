"""A network that is cut between a member and the server."""

from dataclasses import replace

import pytest

from mcp_server.adapters.team_client import TeamClient
from mcp_server.core.errors import StorageUnavailable
from mcp_server.core.search.query import Query
from mcp_server.core.team.team import Role
from tests.patience import PATIENCE
from tests.team_server.relay import relayed
from tests.team_server.test_roles import memory


def test_a_cut_network_ends_every_call_and_the_next_one_after_it_is_mended_succeeds(
    address: str, tokens: dict[Role, str]
) -> None:
    with relayed(address) as relay:
        patient = TeamClient(relay.address, tokens[Role.WRITER], deadline=PATIENCE)
        hurried = TeamClient(relay.address, tokens[Role.WRITER], deadline=0.3)
        stored = patient.save(memory())
        relay.is_cut.set()
        with pytest.raises(StorageUnavailable, match="did not answer within"):
            patient.search(Query("body parsing"), patience=0.1)
        for call in (lambda: hurried.load("webhook"), lambda: hurried.search(Query("body"))):
            with pytest.raises(StorageUnavailable, match=r"did not answer within 0.3 seconds"):
                call()
        assert relay.swallowed.wait(PATIENCE)
        relay.is_cut.clear()
        assert TeamClient(relay.address, tokens[Role.WRITER], deadline=PATIENCE).load("webhook") == stored


def test_what_the_server_did_before_its_answer_was_lost_is_not_done_twice(
    address: str, tokens: dict[Role, str]
) -> None:
    direct = TeamClient(address, tokens[Role.WRITER], deadline=PATIENCE)
    with relayed(address) as relay:
        hurried = TeamClient(relay.address, tokens[Role.WRITER], deadline=0.3)
        first = direct.save(memory())
        changed = replace(memory(), text="Do not.")
        stored = direct.save(changed, replaces=first.digest)  # it was done, and the answer was lost
        relay.is_cut.set()
        with pytest.raises(StorageUnavailable):
            hurried.save(changed, replaces=first.digest)
        relay.is_cut.clear()
        again = TeamClient(relay.address, tokens[Role.WRITER], deadline=PATIENCE)
        assert again.save(changed, replaces=first.digest) == stored
        assert len(again.history("webhook")) == 2
