"""The settings, messages, keys and numbers that the documents tell are those in the code."""

import doctest
import re
from datetime import UTC, datetime
from types import ModuleType

import pytest

from mcp_server.actions.context import inject
from mcp_server.actions.exchange.connect import CONNECTED
from mcp_server.actions.model.setup import CONFIG
from mcp_server.adapters import memory_file, places
from mcp_server.adapters.memory_file import KEYS
from mcp_server.adapters.model_folder import MODELS
from mcp_server.adapters.remote import notes
from mcp_server.bootstrap import INDEX_NAME
from mcp_server.core.context.brief import PROMPT_BUDGET
from mcp_server.core.errors import SettingsError
from mcp_server.core.memory import Link
from mcp_server.core.memory_parts import ARCHIVE_FOLDER, Kind, Status
from mcp_server.core.memory_types import TYPES
from mcp_server.core.provenance import provenance
from mcp_server.core.search import confidence, echo, ranking
from mcp_server.core.settings import DEFAULTS, IN_CONFIG, ROWS, in_config, parse_settings
from mcp_server.core.worth import prediction, ratings, use
from mcp_server.doors.set_up_problem import NEEDED
from tests.documents import fenced, rows, text
from tests.live import ROOT


@pytest.mark.feature("D-28")
def test_the_document_names_every_setting_with_its_default() -> None:
    table = {
        row[0].strip("`"): row[1].strip("`") for row in rows(text("docs/settings.md")) if row[0].isupper()
    }
    changed: set[str] = set()
    for name, default in table.items():
        if name == "MEMORY_DIR":
            assert default == "~/.claude-memory"
        elif name.startswith("ANTHROPIC_"):
            assert default == ""
            assert parse_settings({name: "x"}, {}) == DEFAULTS
        elif name in VARIABLES_ALONE:
            assert default == "" and not changed_by(name)
        else:
            assert parse_settings({name: default}, {}) == DEFAULTS
            assert parse_settings({}, {in_config(name): default}) == DEFAULTS
            changed |= changed_by(name)

    assert changed == ROWS.keys()


VARIABLES_ALONE = ("DAYBOOK_HOOKS", "DAYBOOK_VENV", "DAYBOOK_PYTHON", "HF_ENDPOINT", "DAYBOOK_TEAM_DATABASE")
OF_LIBRARIES = {"HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_XET"}  # set by Daybook, for them
OF_ITS_PROCESSES = {"DAYBOOK_MODULE", "DAYBOOK_SETUP", "DAYBOOK_SETUP_FAILED"}  # what they tell each other


def test_the_document_names_every_variable_and_which_are_no_names_in_config_toml() -> None:
    document = text("docs/settings.md")
    table = [row[0].strip("`") for row in rows(document)]
    code = text("bin/daybook") + "".join(path.read_text("utf-8") for path in ROOT.glob("mcp_server/**/*.py"))
    read = set(re.findall(r"\b(?:DAYBOOK|HF)_(?:[A-Z]+_)*[A-Z]+\b", code))

    assert read - OF_ITS_PROCESSES - OF_LIBRARIES <= set(table)
    assert "`MEMORY_DIR` and the last five of the table can be set as variables only." in document
    assert tuple(table[-5:]) == VARIABLES_ALONE
    for name in ("MEMORY_DIR", *VARIABLES_ALONE):
        with pytest.raises(SettingsError):
            parse_settings({}, {in_config(name): "x"})


def changed_by(name: str) -> set[str]:
    """Return the settings that the variable *name* can change, in the environment and in config.toml."""
    for value in ("none", "7", "false", "true", "manual", "core"):
        try:
            settings = parse_settings({name: value}, {})
        except SettingsError:
            continue
        if in_config(name) in IN_CONFIG:
            assert settings == parse_settings({}, {in_config(name): value})
        if changed := {name for name in ROWS if getattr(settings, name) != getattr(DEFAULTS, name)}:
            return changed
    return set()


def test_the_messages_that_are_explained_are_those_that_are_printed() -> None:
    quoted = [
        quote for row in rows(text("docs/troubleshooting.md")) for quote in re.findall(r'"([^"]+)"', row[0])
    ]
    code = text("bin/daybook") + text("bin/set_up.sh")
    code += "".join(path.read_text("utf-8") for path in ROOT.glob("mcp_server/**/*.py"))

    assert quoted
    assert [quote for quote in quoted if quote.casefold() not in code.casefold()] == []


def test_the_readme_and_the_messages_tell_one_size_of_the_environment() -> None:
    assert f"its Python environment about {NEEDED} MB" in text("README.md")
    assert f"its Python environment, some {NEEDED} MB" in text("bin/set_up.sh")


@pytest.mark.parametrize("name", ["README.md", "docs/file-format.md"])
def test_the_file_that_is_shown_is_a_memory(name: str) -> None:
    (example,) = fenced(text(name), "markdown")
    when = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)

    memory = memory_file.parse(
        example.encode(), path="knowledge/shown.md", kind=Kind.KNOWLEDGE, archived=False, modified=when
    )

    assert memory.id == "stripe-webhook-raw-body-k3f9"
    assert (memory.type, memory.tags, memory.created) == ("gotcha", ("billing", "stripe"), when)
    assert memory.touches == ("src/lib/stripe.ts:42",)
    if name == "docs/file-format.md":
        assert memory.links == (Link("depends-on", "billing-architecture-p2qa"),)
    assert memory_file.rewrite(example.encode(), memory, path="knowledge/shown.md") == example.encode()


@pytest.mark.feature("A-48", "D-18")
def test_the_file_format_names_every_key_and_every_word() -> None:
    document_text = text("docs/file-format.md")
    named = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows(document_text.partition("## Keys")[2])))
    words = {row[0]: row[1] for row in rows(document_text)}

    assert sorted(named) == sorted(KEYS)
    assert set(TYPES) <= set(re.findall(r"\w+", words["`type`"]))
    assert set(Status) <= set(re.findall(r"\w+", words["`status`"]))
    assert {f"`{kind.folder}/`" for kind in Kind} <= words.keys()
    assert set(re.findall(r"\w+", words["`source`"])) >= provenance.PUSHED_ALWAYS | provenance.PUSHED_AS_FACTS


def test_the_file_format_names_every_folder_of_the_store() -> None:
    shown = fenced(text("docs/file-format.md"), "text")[0]
    folders = (places.PROJECTS, places.HISTORY, places.CANDIDATES, places.WORK, places.TEAM_KEY)
    kinds = (ARCHIVE_FOLDER, *(kind.folder for kind in Kind))

    assert [name for name in (*folders, *kinds, MODELS, notes.FOLDER) if f" {name}/" not in shown] == []
    assert [name for name in (INDEX_NAME, CONFIG, CONNECTED, places.PROJECT_FILE) if name not in shown] == []


@pytest.mark.feature("D-21")
def test_the_weights_that_are_documented_are_those_in_the_code() -> None:
    modules: dict[str, ModuleType] = {
        "ranking": ranking,
        "echo": echo,
        "confidence": confidence,
        "ratings": ratings,
    }
    documented = [row for row in rows(text("docs/ranking.md")) if "." in row[0]]
    for name, value, _ in documented:
        module, _, constant = name.strip("`").partition(".")
        assert getattr(modules[module], constant) == float(value), name

    documented_types = {row[0].strip("`").partition(".")[2] for row in documented}
    assert {name for name in vars(ranking) if name.endswith(("_WEIGHT", "_BOOST"))} <= documented_types
    assert {
        name for name in vars(confidence) if re.match(r"(HIGH|MEDIUM|COVERAGE)_", name)
    } <= documented_types


def test_the_formulas_that_are_documented_have_the_numbers_of_the_code() -> None:
    document = text("docs/ranking.md")
    words, near = ranking.LEXICAL_MEMORY, ranking.LEXICAL_NEAR
    close = f"{ranking.CLOSE_MEANING} · meaning + {ranking.MAXSIM} · maxsim"
    shown, pointed = confidence.TEXT, confidence.POINTER
    formulas = (
        f"relevance = {words} · words + {near} · near + {ranking.MEANING} · meaning`",
        f"relevance = ({words} · words + {near} · near + {close}) /",
        f"cosine + {confidence.MAXSIM_SHARE} · maxsim + {confidence.COVERAGE_SHARE} · coverage"
        f" + {confidence.TOGETHER_SHARE} · near + {confidence.SURPRISE_SHARE} · surprise`",
        f"`text = chance({shown.maxsim} · maxsim + {shown.lead} · lead + {shown.calling} · calling"
        f" - {-shown.level})`",
        f"`pointer = chance({pointed.cosine} · cosine + {pointed.calling} · calling - {-pointed.level})`",
        f"whose cosine is {confidence.LEAST_COSINE} or more",
        f"At most five texts, and {PROMPT_BUDGET:,} characters in all",
    )

    assert inject.MOST == 5
    assert [formula for formula in formulas if formula not in document] == []


@pytest.mark.feature("3.2-6")
def test_the_numbers_of_the_ratings_that_are_documented_are_those_in_the_code() -> None:
    modules: dict[str, ModuleType] = {"ratings": ratings, "prediction": prediction, "use": use}
    documented = rows(text("docs/ratings.md"))
    moves = {row[0].strip("`"): float(row[1]) for row in documented if re.fullmatch(r"`[a-z_]+`", row[0])}
    assert moves == ratings.TRUST_EVENTS

    documented_numbers: dict[str, dict[str, float]] = {"TRUST_HALF_LIFE": {}, "BASE_TRUST": {}}
    for cell, value, _ in (row for row in documented if "." in row[0]):
        name, _, keys = cell.partition("` ")
        module, _, constant = name.strip("`").partition(".")
        if keys:
            documented_numbers[constant] |= dict.fromkeys(keys.split(", "), float(value))
        else:
            assert getattr(modules[module], constant) == float(value), name
    assert documented_numbers == {
        "TRUST_HALF_LIFE": ratings.TRUST_HALF_LIFE,
        "BASE_TRUST": ratings.BASE_TRUST,
    }


@pytest.mark.parametrize("name", ["docs/ranking.md", "docs/ratings.md"])
def test_the_example_of_a_formula_comes_out_as_shown(name: str) -> None:
    (example,) = fenced(text(name), "python")
    run = doctest.DocTestRunner()
    run.run(doctest.DocTestParser().get_doctest(example, {}, name, None, 0))

    assert run.tries
    assert not run.failures
