"""
Whose words the result of a tool is: those of the person's own project, or those of others.

A result not known to be the project's counts as others': that of a program that reaches a network, or that
prints what anyone may have written, such as issues, logs and commit messages.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from posixpath import basename
from typing import Any

Own = Callable[[str], bool]
"""Tells whether a file is the project's own: git tracks it, in a repository that the person accepted."""

OUR_TOOL = re.compile(r"mcp__(?:plugin_daybook_)?daybook__\w+")
UNCONFIRMED = "unconfirmed origin"  # marks a memory in an answer of Daybook that may not be shown unasked


class Whose(StrEnum):
    """Whose words a result is; NOBODYS is one without information, such as "the file was written"."""

    PROJECTS = "project"
    OTHERS = "outside"
    LINES = "lines"  # each line begins with the path of the file that it is from
    NOBODYS = ""


_SILENT = frozenset(
    "Edit MultiEdit Write NotebookEdit TodoWrite ExitPlanMode EnterPlanMode Skill AskUserQuestion"
    " KillShell KillBash TaskStop TaskCreate TaskUpdate TaskList TaskGet SendMessage ToolSearch".split()
)
_AGENTS = frozenset(("Task", "Agent", "TaskOutput", "AgentOutputTool"))
_FILES = {"Read": "file_path", "NotebookRead": "notebook_path"}
_SEARCHES = frozenset(("Grep", "Glob"))
_WEB = {"WebFetch": "a web page", "WebSearch": "a web search"}


def whose(name: str, arguments: Mapping[str, Any], *, own: Own, agents_read: bool) -> tuple[Whose, str]:
    """
    Return whose words the result of the tool *name*, called with *arguments*, is, and its name for people.

    *agents_read*: the transcripts of the session's agents are read as well, so their reports add nothing.
    """
    if OUR_TOOL.fullmatch(name):
        return Whose.NOBODYS, "a memory of unconfirmed origin"
    if name in _SILENT or (name in _AGENTS and agents_read):
        return Whose.NOBODYS, ""
    if name in _AGENTS:
        return Whose.OTHERS, "an agent"
    if name in _WEB:
        return Whose.OTHERS, _WEB[name]
    if name == "LS":
        return Whose.PROJECTS, "the list of a folder"
    if name in _FILES:
        path = str(arguments.get(_FILES[name]) or "")
        return (Whose.PROJECTS if own(path) else Whose.OTHERS), f"the file {basename(path) or path}"
    if name in _SEARCHES:
        path = str(arguments.get("path") or "")
        return (Whose.PROJECTS if path and own(path) else Whose.LINES), "a file that was searched"
    if name == "Bash":
        command = str(arguments.get("command") or "")
        return whose_output(command, own=own), f"the command '{' '.join(command.split())[:40]}'"
    if name.startswith("mcp__"):
        return Whose.OTHERS, f"the MCP server {name.split('__')[1][:40]}"
    return Whose.OTHERS, f"the tool {name[:40]}"


_READERS = frozenset(
    "awk bat cat cmp column comm cut diff fold head jq join less md5sum more nl od paste rev sed sha256sum"
    " sort strings tac tail tr uniq wc xxd yq".split()
)
_PATTERN_FIRST = frozenset(("awk", "jq", "sed", "tr", "yq", "grep", "egrep", "fgrep", "rg", "ag"))
_SEARCHERS = frozenset(("grep", "egrep", "fgrep", "rg", "ag"))
_PLAIN = frozenset(
    "[ [[ basename cal cd chmod chown clear cp date declare df dirname do done du echo else esac exit export"
    " false fi file for free getconf hash help hostname id if in kill let ln local ls mkdir mktemp mv nproc"
    " popd printf printenv ps pushd pwd read readlink realpath return rm rmdir seq set sleep stat tee test"
    " then time touch tput tree true truncate tty type ulimit umask unalias uname unset uptime wait which"
    " while whoami yes".split()
)
_CHECKS = frozenset(
    "bazel black cmake ctest eslint flake8 gofmt gradle gradlew isort jest just lint-imports make mocha mvn"
    " mvnw mypy ninja nox phpstan phpunit pre-commit prettier pylint pyright pytest rspec rubocop ruff"
    " rustc shellcheck stylelint swiftlint tox tsc ty vitest".split()
)
_SUBCOMMANDS = {
    "git": (
        "add apply branch checkout cherry-pick commit config diff grep init ls-files merge mv rebase reset"
        " restore rev-parse rm stash status switch worktree"
    ),
    "cargo": "bench build check clippy fmt nextest run test",
    "go": "build env fmt run test version vet",
    "npm": "build lint run start test",
    "pnpm": "build lint run start test",
    "yarn": "build lint run start test",
    "bun": "build lint run test",
    "deno": "check fmt lint test",
    "dotnet": "build test",
    "mix": "compile format test",
    "rake": "test spec",
    "swift": "build test",
}
_PACKAGE_TOOLS = frozenset(("npm", "pnpm", "yarn", "bun"))
_WRAPPERS = {"command": 0, "env": 0, "exec": 0, "nice": 0, "nohup": 0, "sudo": 0, "timeout": 1, "xargs": 0}
_RUNNERS = {
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("bundle", "exec"),
    ("npx", ""),
}
_INTERPRETERS = re.compile(r"(?:python[\d.]*|node|ruby|perl|php|deno|bash|sh|zsh|tsx|ts-node)")
_MODULES = frozenset("black build compileall mypy nox pylint pytest ruff tox unittest".split())
_REACHES = re.compile(
    r"http|url|request|socket|fetch|open|read|subprocess|system|exec|popen|spawn|import_module|eval", re.I
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1.*?^\s*\2\s*$", re.DOTALL | re.MULTILINE)
_INSIDE = re.compile(r"\$\(|<\(|`|\)")
LONGEST = 4000  # characters of a command that is looked at; a longer one counts as others'


def whose_output(command: str, *, own: Own) -> Whose:
    """Return whose words a command of the shell prints: others' when that holds for any part of it."""
    if len(command) > LONGEST:
        return Whose.OTHERS
    parts = _parts(command)
    if parts is None:
        return Whose.OTHERS
    owners = {_whose_part(part, own, piped=number > 0) for number, part in enumerate(parts) if part}
    for owner in (Whose.OTHERS, Whose.LINES):
        if owner in owners:
            return owner
    return Whose.PROJECTS


def _parts(command: str) -> list[list[str]] | None:
    """Return the simple commands in *command* as words, None when it cannot be parsed."""
    command = _INSIDE.sub(" ; ", _HERE.sub(" ", command))
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return None
    parts: list[list[str]] = [[]]
    for word in words:
        if word and set(word) <= set(";|&"):
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _whose_part(words: Sequence[str], own: Own, *, piped: bool = False) -> Whose:
    """Return whose words one simple command prints; *piped*: it reads what another one prints."""
    words, read_paths = _without_redirections(words)
    if any(not own(path) for path in read_paths if path != "/dev/null"):
        return Whose.OTHERS
    while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in "(){}!"):
        words = words[1:]
    if not words:
        return Whose.PROJECTS
    program = basename(words[0])
    arguments = [word for word in words[1:] if not word.startswith("-")]
    if program in _WRAPPERS:
        return _whose_part(arguments[_WRAPPERS[program] :], own)
    if (program, arguments[0] if arguments else "") in _RUNNERS:
        return _whose_part(arguments[1:], own)
    if (program, "") in _RUNNERS:
        return Whose.PROJECTS if arguments[:1] and basename(arguments[0]) in _CHECKS else Whose.OTHERS
    if program in _PLAIN or program in _CHECKS:
        return Whose.PROJECTS
    if program == "find":
        return Whose.OTHERS if any(word.startswith(("-exec", "-ok")) for word in words) else Whose.PROJECTS
    if program in _SEARCHERS:
        files = arguments[1:]
        passes_on = piped and not files and not {"-r", "-R", "-rn", "-rnw"}.intersection(words)
        return Whose.PROJECTS if passes_on or (files and all(map(own, files))) else Whose.LINES
    if program in _READERS:
        files = arguments[1:] if program in _PATTERN_FIRST and "-f" not in words else arguments
        files = [file for file in files if not file.lstrip("+").isdigit()]
        return Whose.PROJECTS if all(map(own, files)) else Whose.OTHERS
    if program in _SUBCOMMANDS:
        return _whose_subcommand(program, arguments)
    if _INTERPRETERS.fullmatch(program):
        return _whose_script(words, arguments, own)
    return Whose.PROJECTS if own(words[0]) else Whose.OTHERS


def _whose_subcommand(program: str, arguments: Sequence[str]) -> Whose:
    first = arguments[0] if arguments else ""
    if program == "git" and first == "show" and len(arguments) > 1 and ":" in arguments[1]:
        return Whose.PROJECTS  # an old version of a file; without a path it shows a commit message
    scripts = program in _PACKAGE_TOOLS and first.startswith(("test", "lint", "build", "check"))
    return Whose.PROJECTS if scripts or first in _SUBCOMMANDS[program].split() else Whose.OTHERS


def _whose_script(words: Sequence[str], arguments: Sequence[str], own: Own) -> Whose:
    """Return whose words a program prints that an interpreter runs: a file, a module, or code."""
    if "-m" in words:
        module = words[words.index("-m") + 1 : words.index("-m") + 2]
        return Whose.PROJECTS if module and module[0].split(".")[0] in _MODULES else Whose.OTHERS
    for flag in ("-c", "-e", "-p", "--eval"):
        if flag in words:
            code = " ".join(words[words.index(flag) + 1 :])
            return Whose.OTHERS if _REACHES.search(code) else Whose.PROJECTS
    if not arguments:
        return Whose.PROJECTS if "--version" in words or "-V" in words else Whose.OTHERS
    return Whose.PROJECTS if own(arguments[0]) else Whose.OTHERS


def _without_redirections(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return *words* without `> file` and the like, and the files that are read by `< file`."""
    words_left: list[str] = []
    read_paths: list[str] = []
    redirection = ""
    for word in words:
        if redirection:
            read_paths += [word] if redirection == "<" else []
            redirection = ""
        elif set(word) <= set("<>&") and word:
            redirection = word
        else:
            words_left.append(word)
    return words_left, read_paths
