"""Waiting for a call no longer than its caller has patience."""

import threading

import pytest

from mcp_server.adapters.patient_call import PatientCall, StillRunning
from tests.patience import PATIENCE


def test_a_call_that_is_given_up_goes_on_and_its_result_is_there_later() -> None:
    may_end = threading.Event()
    call = PatientCall(lambda: may_end.wait(PATIENCE), name="slow")

    with pytest.raises(StillRunning):
        call.result(0.0)
    assert call.goes_on
    may_end.set()

    assert call.result(PATIENCE)
    assert not call.goes_on


def test_what_the_call_raises_is_raised_to_its_caller() -> None:
    def fail() -> None:
        raise TimeoutError("the disk")

    with pytest.raises(TimeoutError, match="the disk"):
        PatientCall(fail, name="failing").result(PATIENCE)
