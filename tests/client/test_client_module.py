"""The module inside the client: its types hold, its own tests pass, and without it hooks do the same."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.drive_claude import Claude
from harness.mock_anthropic import call

from tests.client.test_client_learning import ledger

pytestmark = pytest.mark.client

ROOT = Path(__file__).resolve().parents[2]
TSC = ROOT / ".client" / "node_modules" / "typescript" / "bin" / "tsc"
WRITES_TYPES = call("Skill", skill="plugin-authoring")
"""The call at which the client writes the types of its modules, beside its own text about them."""
STORED = {"title": "Invoices", "content": "Amounts on an invoice are rounded half to even."}
ASKS = "how are the amounts on an invoice rounded?"


@pytest.fixture(scope="module")
def loads_it(binary: Path, plugin: Path, home: Path) -> bool:
    """Whether this client knows all events of the module; one that does not loads none of it."""
    claude = Claude(binary, home=home, project=home, env={})
    return "is not an event" not in claude.cli("plugin", "validate", plugin).stdout


def types_of(claude: Claude) -> Path:
    """Return the file with the types of the client's modules, which the client writes."""
    run = claude.prompt("a plugin, please", [WRITES_TYPES, "done"], args=["--allowedTools", "Skill"])
    texts = "\n".join(text for request in run.main for _, _, text in request.blocks())
    (path,) = set(re.findall(r"/\S+/plugin-authoring/types/claude-code\.d\.ts", texts)) or [texts]
    return Path(path)


def options_of(types: Path) -> dict[str, object]:
    """Return the `tsconfig.json` that the header of *types* carries."""
    block = re.search(
        r"^//   \{\n(?://.*\n)*?//   \}$", types.read_text(encoding="utf-8")[:20_000], re.MULTILINE
    )
    assert block
    options: dict[str, object] = json.loads(re.sub(r"^// ?", "", block[0], flags=re.MULTILINE))
    return options


def test_the_types_of_the_module_hold(claude: Claude, plugin: Path, tmp_path: Path, loads_it: bool) -> None:
    if not loads_it or not TSC.exists():
        pytest.skip("this client does not load the module, or TypeScript is not here: `make client`")
    types, checked = types_of(claude), tmp_path / "checked"
    if "'tool.offer'" not in types.read_text(encoding="utf-8"):
        pytest.skip("this client loads the module, but is older than an event that the module answers")
    for folder in ("hooks", "types"):
        shutil.copytree(plugin / folder, checked / folder)
    shutil.copy(types, checked)
    config = options_of(types) | {"include": [types.name, "hooks", "types"]}
    (checked / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")

    process = subprocess.run(["node", TSC, "-p", checked], capture_output=True, encoding="utf-8", check=False)

    assert process.returncode == 0, process.stdout + process.stderr


def test_the_tests_of_the_module_pass(claude: Claude, plugin: Path, loads_it: bool) -> None:
    if not loads_it:
        pytest.skip("this client does not load the module")

    run = claude.cli("plugin", "test", plugin)

    assert run.code == 0, run.stdout + run.stderr


def test_where_it_is_not_loaded_hooks_do_the_same(
    claude: Claude, home_without_module: Path, store: Path
) -> None:
    claude.home = home_without_module
    noted = lambda: [event for event in ledger(store, "transcript_seen") if "ended" not in event]  # noqa: E731
    marked = claude.prompt("#remember Totals on an invoice are printed in bold.", ["hi"], until=noted)
    claude.prompt(f"Remember: {STORED['content']}", [call("remember", **STORED), "kept"])

    run = claude.prompt(ASKS, ["hi"], resume=marked.session)
    begun = claude.prompt("good morning", ["hi"])

    assert "Daybook has stored it" in "".join(marked.main[0].hook_context("UserPromptSubmit"))
    *_, context = run.main[0].hook_context("UserPromptSubmit")
    assert STORED["content"] in context
    assert STORED["content"] in "".join(begun.main[0].hook_context("SessionStart"))
    assert noted()[0]["session"] == marked.session  # by the hook of the answer: the other says that it ended
