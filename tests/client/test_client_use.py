"""Whether a memory that the model was given was of use is seen in what the model replies."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import call
from harness.terminal import wait_until

pytestmark = pytest.mark.client

PROMPT = "how are amounts on an invoice rounded?"


def receipts(claude: Claude, plugin: Path) -> list[dict[str, Any]]:
    process = subprocess.run(
        [plugin / "bin" / "daybook", "why", "--json"],
        cwd=claude.project,
        env=claude.environment(""),
        capture_output=True,
        check=True,
    )
    listed: list[dict[str, Any]] = json.loads(process.stdout)
    return listed


@pytest.mark.feature("3.2-use-detection")
def test_a_reply_that_names_what_is_telling_in_a_memory_makes_it_used(claude: Claude, plugin: Path) -> None:
    claude.prompt(
        "/daybook:remember it",
        [call("remember", title="Invoice rounding | Amounts are rounded by roundHalfEven in billing."), "ok"],
    )

    claude.prompt(PROMPT, ["They are rounded."])
    before = receipts(claude, plugin)

    def is_seen() -> bool:
        # Nobody waits for the note: a client that ends at once may end before it is written.
        claude.prompt(PROMPT, ["`roundHalfEven` does that."])
        return any(receipt["used"] for receipt in receipts(claude, plugin))

    wait_until(is_seen)
    after = receipts(claude, plugin)

    assert {receipt["why"] for receipt in before} == {"session start"}
    assert not any(receipt["used"] for receipt in before)
    assert {receipt["session"] for receipt in after if receipt["used"]} == {after[0]["session"]}
