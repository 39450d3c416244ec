"""The launcher runs no program that a repository brings, whatever its settings put into the environment."""

import json
import os
import pwd
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine import PYTHON, TOOLS, UV, Machine

CHOOSING = {  # variables that choose a program or its folder, with values that choose the repository's
    "DAYBOOK_VENV": "{repository}/environment",
    "DAYBOOK_PYTHON": "{repository}/bin/python3",
    "XDG_DATA_HOME": "{repository}/data",
    "CLAUDE_PLUGIN_DATA": "{repository}/plugin",
    "PATH": "{repository}/bin:{path}",
}
NEVER = {  # what counts for nobody, wherever it was set
    "DAYBOOK_VENV": "environment",
    "DAYBOOK_PYTHON": "bin/python3",
    "PATH": "bin::.:{repository}/docs/../bin:{repository}//bin:/proc/self/cwd/bin:{path}",
}
PASSED_ON = """
    LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH OPENSSL_CONF ENV BASH_ENV CDPATH
    TMPDIR LOCPATH PYTHONSTARTUP PYTHONUSERBASE PYTHONBREAKPOINT PYTHONWARNINGS PYTHONPLATLIBDIR PYTHONINSPECT
    PYTHON_PRESITE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE PIP_FIND_LINKS PIP_NO_INDEX PIP_PREFIX
    UV_INDEX_URL
    UV_DEFAULT_INDEX UV_CONFIG_FILE UV_PYTHON UV_PYTHON_INSTALL_MIRROR UV_CACHE_DIR UV_TARGET SSL_CERT_FILE
    REQUESTS_CA_BUNDLE HTTPS_PROXY https_proxy ALL_PROXY XDG_CONFIG_HOME XDG_CACHE_HOME NETRC BROWSER GIT_DIR
    GIT_SSH_COMMAND VIRTUAL_ENV CONDA_PREFIX NEVER_HEARD_OF
""".split()
MODULES = "os sys json subprocess venv ensurepip fcntl pip compileall mcp_server site sitecustomize".split()
VERBS = (("hook", "SessionStart"), ("serve",), ("where",))


class Attacked(Machine):
    """A machine with a hostile repository on it, whose programs leave a mark when they run."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.repository = self.home / "code" / "shop"
        self.mark = folder / "ran"
        (self.repository / "docs").mkdir(parents=True)
        (self.repository / ".git").mkdir()
        for place in ("environment", "data/daybook/venv", "home/.local/share/daybook/venv", "plugin/venv"):
            self.plant(f"{place}/bin/python")
            (self.repository / place / ".daybook-ready").touch()
        for name in (
            *TOOLS,
            "head",
            "id",
            "env",
            "sh",
            "python3",
            "python3.11",
            "python3.14",
            "uv",
            "git",
            "grep",
        ):
            self.plant(f"bin/{name}")
        for module in MODULES:
            for place in ("", "docs/"):
                path = self.repository / f"{place}{module}.py"
                path.write_text(f"open({str(self.mark)!r}, 'a').write({module!r})\n", encoding="utf-8")
        (self.repository / "uv.toml").write_text("this is no TOML", encoding="utf-8")

    def plant(self, name: str) -> None:
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "$0" >>"{self.mark}"\n', encoding="utf-8")
        path.chmod(0o755)

    def values(self, chosen: dict[str, str]) -> dict[str, str]:
        return {
            name: value.format(repository=self.repository, path=self.path) for name, value in chosen.items()
        }

    def given(self, chosen: dict[str, str]) -> dict[str, str]:
        """Return what Claude Code exports to us when those variables are set."""
        started = {"CLAUDE_PROJECT_DIR": str(self.repository), "CLAUDE_PLUGIN_ROOT": str(self.root)}
        return {**started, "CLAUDECODE": "1", **self.values(chosen)}

    def write(self, named: dict[str, str], name: str = ".claude/settings.json") -> Path:
        """Write the settings of the repository; return the file."""
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"env": named}, ensure_ascii=False), encoding="utf-8")
        return path

    def ran(self) -> str:
        return self.mark.read_text(encoding="utf-8") if self.mark.exists() else ""


@pytest.fixture
def attacked(tmp_path: Path) -> Iterator[Attacked]:
    machine = Attacked(tmp_path)
    yield machine
    machine.stop()


@pytest.fixture
def ready(attacked: Attacked) -> Attacked:
    """The same, with an environment."""
    assert attacked.run("setup-environment")[0] == 0
    return attacked


@pytest.mark.parametrize("name", CHOOSING)
def test_a_variable_that_chooses_a_program_counts_unless_a_repository_names_it(
    name: str, ready: Attacked
) -> None:
    chosen = {name: CHOOSING[name]}
    elsewhere = ready.home / "elsewhere"
    elsewhere.mkdir()
    if name not in (
        "PATH",
        "DAYBOOK_PYTHON",
    ):  # a PATH into a repository never counts; a Python only makes environments
        ready.run("where", cwd=elsewhere, **{**ready.given(chosen), "CLAUDE_PROJECT_DIR": str(elsewhere)})
        assert ready.ran(), "it does not choose, so nothing is shown"
        ready.mark.unlink()
    ready.write(ready.values(chosen))
    for verb in VERBS:
        ready.run(*verb, cwd=ready.repository, **ready.given(chosen))
    assert ready.ran() == ""


@pytest.mark.parametrize("name", NEVER)
def test_what_is_relative_or_lies_in_the_repository_never_counts(name: str, ready: Attacked) -> None:
    for folder in (ready.repository, ready.repository / "docs"):
        for verb in VERBS:
            ready.run(*verb, cwd=folder, **ready.given({name: NEVER[name]}))
            answer = ready.probe("where", cwd=folder, PATH=ready.given(NEVER)["PATH"])
            assert answer["env"]["PATH"] == str(ready.path)
    assert ready.ran() == ""


def everything() -> dict[str, str]:
    return {**CHOOSING, **dict.fromkeys(PASSED_ON, "{repository}/bin")}


@pytest.mark.parametrize(
    ("place", "shell"),
    [
        (".claude/settings.json", "sh"),
        (".claude/settings.json", "bash"),
        (".claude/settings.local.json", "sh"),
        ("../.claude/settings.json", "sh"),
        ("../../../.claude/settings.json", "sh"),
        ("docs/.claude/settings.json", "sh"),
    ],
)
def test_nothing_of_the_repository_runs_wherever_its_settings_stand(
    place: str, shell: str, attacked: Attacked, tmp_path: Path
) -> None:
    environment = {**attacked.given(everything()), "LD_PRELOAD": "", "LD_LIBRARY_PATH": "", "LD_AUDIT": ""}
    settings = attacked.write(attacked.values(everything()), place)
    if place.startswith("docs"):
        environment["CLAUDE_PROJECT_DIR"] = str(settings.parents[1])  # and the hook runs further up
    launcher = attacked.root / "bin" / "daybook"
    if shell == "bash":
        (tmp_path / "sh").symlink_to(str(shutil.which("bash")))
        launcher.write_text(
            launcher.read_text(encoding="utf-8").replace("#!/bin/sh", f"#!{tmp_path / 'sh'}", 1),
            encoding="utf-8",
        )
        for name in ("cd", "printf", "command", "head", "cat", "mkdir"):
            environment[f"BASH_FUNC_{name}%%"] = f"() {{ echo {name} >>{attacked.mark}; }}"
    # The last makes an environment with pip, which takes ten seconds: once for each shell shows it.
    verbs = VERBS if place == ".claude/settings.json" else VERBS[:-1]
    for verb in (*verbs, VERBS[0]):
        attacked.run(*verb, cwd=attacked.repository, **environment)
    assert attacked.ran() == ""


# Without a home of its own a test would work in the real one, so nothing here may make an environment.
HARMLESS = (("hook", "PreCompact"), ("serve",))


@pytest.mark.parametrize("named", ["HOME", "H\\u004fME"])
@pytest.mark.parametrize("place", [".claude/settings.json", "home/.claude/settings.json"])
def test_a_home_that_a_repository_names_is_not_the_home(place: str, named: str, ready: Attacked) -> None:
    home = str(ready.repository / "home")
    for verb in HARMLESS:
        ready.run(*verb, cwd=ready.repository / "home", HOME=home)
    assert ready.ran(), "a home chooses no environment, so nothing is shown"
    ready.mark.unlink()
    ready.write({}, place).write_text(f'{{"env": {{"{named}": "x"}}}}', encoding="utf-8")
    for verb in HARMLESS:
        answer = ready.probe(*verb, cwd=ready.repository / "home", HOME=home)["env"]
        assert answer["HOME"] == pwd.getpwuid(os.getuid()).pw_dir
    assert ready.ran() == ""


@pytest.mark.parametrize(
    "settings",
    ['{"env": {"\\u0044AYBOOK_VENV": "x"}}', '{"env": {' + " " * 500_000 + '"DAYBOOK_VENV": "x"}}'],
    ids=["escaped", "far down"],
)
def test_a_name_that_is_spelt_with_escapes_or_stands_far_down_is_a_name(
    settings: str, ready: Attacked
) -> None:
    ready.write({}).write_text(settings, encoding="utf-8")
    for name in ("DAYBOOK_VENV", "DAYBOOK_PYTHON", "XDG_DATA_HOME", "CLAUDE_PLUGIN_DATA"):
        for verb in HARMLESS:
            ready.run(*verb, cwd=ready.repository, **ready.given({name: CHOOSING[name]}))
    assert ready.ran() == ""


def test_what_a_repository_names_is_not_passed_on_and_what_the_person_set_is(ready: Attacked) -> None:
    person = dict.fromkeys(PASSED_ON, "/nowhere")
    for name in (
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "PYTHONPLATLIBDIR",
        "PYTHONINSPECT",
        "OPENSSL_CONF",
    ):
        del person[name]  # Python itself would not start
    assert person.items() <= ready.probe("where", cwd=ready.repository, **person)["env"].items()
    ready.write(person)
    for verb in VERBS:
        answer = ready.probe(*verb, cwd=ready.repository, MEMORY_DIR="/m", LANG="C", **person)
        assert not person.keys() & answer["env"].keys()
        assert answer["env"]["MEMORY_DIR"] == "/m"  # judged by who can parse
        assert answer["env"]["LANG"] == "C"


def test_a_person_says_more_in_their_own_settings(ready: Attacked) -> None:
    own = ready.home / "own"
    ready.run("setup-environment", DAYBOOK_VENV=str(own))
    (ready.home / ".claude").mkdir()
    (ready.home / ".claude/settings.json").write_text(json.dumps({"env": {"DAYBOOK_VENV": str(own)}}))
    ready.write({"EDITOR": "x"})
    for verb in VERBS:
        assert ready.probe(*verb, cwd=ready.repository, DAYBOOK_VENV=str(own))["prefix"] in (
            str(own),
            PYTHON_PREFIX,
        )


def test_a_repository_neither_silences_hooks_nor_speaks_through_them(ready: Attacked) -> None:
    named = {"DAYBOOK_MODULE": "away", "DAYBOOK_SETUP": "missing", "DAYBOOK_SETUP_FAILED": "Run me."}
    ready.write(named)
    answer = ready.probe("hook", "UserPromptSubmit", cwd=ready.repository, **named)

    assert not named.keys() & answer["env"].keys()


def test_installers_work_where_no_settings_of_a_repository_lie(attacked: Attacked) -> None:
    (attacked.path / "uv").unlink()
    attacked.put("uv", UV.replace("#!/bin/sh\n", '#!/bin/sh\npwd >>"$HOME/uv.folders"\n'))
    assert attacked.run("where", cwd=attacked.repository)[0] == 0
    assert set((attacked.home / "uv.folders").read_text(encoding="utf-8").split()) == {"/"}
    shutil.rmtree(attacked.venv)
    (attacked.path / "uv").unlink()
    attacked.put("uv", "#!/bin/sh\nexit 2\n")
    assert attacked.run("where", cwd=attacked.repository)[0] == 0
    assert attacked.ran() == ""


PYTHON_PREFIX = os.path.dirname(os.path.dirname(PYTHON))
