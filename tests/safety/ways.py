"""
Where git can be told to run a program, as git-config, gitattributes, githooks and git itself document it.

Each `Way` puts a program of the repository's own there. The program leaves a mark when it runs.
"""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE

PROGRAMS = ".programs"  # of the repository: where its programs lie
HOOKS = """applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg
    commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive
    post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite
    sendemail-validate fsmonitor-watchman p4-changelist p4-prepare-changelist p4-post-changelist
    p4-pre-submit post-index-change""".split()

HOOK_FOLDERS = {"core.hooksPath": f"{PROGRAMS}/hooks", ".git/hooks": ".git/hooks"}
OPTIONS = "core.hooksPath=/dev/null user.name=a user.email=a@example.org commit.gpgSign=false".split()
TOLD = ("git", *(word for option in OPTIONS for word in ("-c", option)))
"""Git as the tests themselves ask it, where it must do what it is told."""


@dataclass(frozen=True, slots=True)
class Way:
    """
    One place where git can be told to run a program.

    settings: of the repository, `{program}` standing for the program. attributes: of every file.
    environment: variables, likewise. signature: how the signature of the newest commit begins.
    live: what, asked of git, runs the program; () when no cheap question does, or git is too old for it.
    terminal: git asks first whether it speaks to one.
    """

    name: str
    settings: tuple[tuple[str, str], ...] = ()
    live: tuple[str, ...] = ()
    attributes: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    signature: str = ""
    terminal: bool = False


def _one(key: str, *live: str, value: str = "{program}", attributes: str = "", terminal: bool = False) -> Way:
    return Way(key, ((key, value),), live, attributes, terminal=terminal)


def _signed(name: str, key: str, kind: str, *more: tuple[str, str]) -> Way:
    settings = ((key, "{program}"), ("log.showSignature", "true"), *more)
    return Way(name, settings, ("log", "-1"), signature=f"-----BEGIN {kind}-----")


def _surroundings(name: str, *live: str, value: str = "{program}", terminal: bool = False) -> Way:
    return Way(name, (), live, environment=((name, value),), terminal=terminal)


CHANGED = ("diff", "HEAD~1", "HEAD")
FAR = ("-c", "protocol.ext.allow=always", "ls-remote")
FILL = ("credential", "fill")

SETTINGS = (
    # Attributes name a driver, settings its program.
    _one("filter.x.clean", "diff", "HEAD", attributes="filter=x"),
    _one("filter.x.process", "diff", "HEAD", attributes="filter=x"),
    _one("filter.x.smudge", "checkout", "--force", "HEAD~1", "--", "a.txt", attributes="filter=x"),
    _one("diff.x.textconv", *CHANGED, attributes="diff=x"),
    _one("diff.x.command", *CHANGED, attributes="diff=x"),
    _one("merge.x.driver", "merge", "-m", "m", "other", attributes="merge=x"),
    _one("diff.external", *CHANGED),
    # The index, hooks, and what a person reads and writes with.
    _one("core.fsmonitor", "status"),
    _one("core.hooksPath", "commit", "--allow-empty", "-m", "m", value=HOOK_FOLDERS["core.hooksPath"]),
    Way(".git/hooks", (), ("commit", "--allow-empty", "-m", "m")),
    Way(
        "hook.x.command",  # settings of git 2.54 and later
        (("hook.x.command", "{program}"), ("hook.x.event", "post-index-change")),
    ),
    _one("core.pager", "log", terminal=True),
    _one("pager.log", "log", terminal=True),
    _one("pager.rev-list", "rev-list", "HEAD", terminal=True),
    _one("core.editor", "commit", "--allow-empty"),
    _one("sequence.editor", "-c", "rebase.autoStash=true", "rebase", "-i", "HEAD~1"),
    _one("interactive.diffFilter", "add", "-p", terminal=True),
    _one("alias.other", "other", value="!{program}"),
    _one("alias.rev-list", value="!{program}"),  # a command of git's own cannot be one
    _one("alias.diff-tree", value="!{program}"),
    _one("alias.check-ignore", value="!{program}"),
    _one("trailer.x.command", "interpret-trailers", "--trailer", "x=y"),
    _one("trailer.x.cmd", "interpret-trailers", "--trailer", "x=y"),
    # Signatures.
    _signed("gpg.program", "gpg.program", "PGP SIGNATURE"),
    _signed("gpg.openpgp.program", "gpg.openpgp.program", "PGP SIGNATURE"),
    _signed("gpg.x509.program", "gpg.x509.program", "SIGNED MESSAGE"),
    _signed(
        "gpg.ssh.program", "gpg.ssh.program", "SSH SIGNATURE", ("gpg.ssh.allowedSignersFile", "/dev/null")
    ),
    Way(
        "gpg.ssh.defaultKeyCommand",
        (("gpg.ssh.defaultKeyCommand", "{program}"), ("gpg.format", "ssh")),
        ("commit", "-S", "--allow-empty", "-m", "m"),
    ),
    # Other machines: transports, and who asks for a password.
    _one("core.sshCommand", *FAR, "ssh://nowhere.invalid/x"),
    _one("core.gitProxy", *FAR, "git://nowhere.invalid/x"),
    _one("core.askPass", *FILL),
    _one("credential.helper", *FILL),
    _one("credential.https://nowhere.invalid.helper", *FILL),
    _one("remote.origin.url", *FAR, "origin", value="ext::{program}"),
    Way(
        "remote.origin.uploadpack",
        (("remote.origin.url", "."), ("remote.origin.uploadpack", "{program}")),
        ("ls-remote", "origin"),
    ),
    _one("core.alternateRefsCommand", "rev-list", "--alternate-refs"),
    _one("uploadpack.packObjectsHook"),  # git believes it of the person's own settings alone
    # Tools.
    _one("difftool.x.cmd", "difftool", "-y", "-t", "x", "HEAD~1", "HEAD"),
    _one("mergetool.x.cmd"),
    _one("browser.x.cmd"),
    _one("man.x.cmd"),
    _one("sendemail.sendmailCmd"),
    _one("guitool.x.cmd"),
    _one("submodule.x.update", value="!{program}"),
    _one("diff.x.cachetextconv", value="true"),
)  # fmt: skip

ENVIRONMENT = (
    _surroundings("GIT_EXTERNAL_DIFF", *CHANGED),
    _surroundings("GIT_SSH_COMMAND", *FAR, "ssh://nowhere.invalid/x"),
    _surroundings("GIT_SSH", *FAR, "ssh://nowhere.invalid/x"),
    _surroundings("GIT_PROXY_COMMAND", *FAR, "git://nowhere.invalid/x"),
    _surroundings("GIT_ASKPASS", *FILL),
    _surroundings("SSH_ASKPASS", *FILL),
    _surroundings("GIT_PAGER", "log", terminal=True),
    _surroundings("PAGER", "log", terminal=True),
    _surroundings("GIT_EDITOR", "commit", "--allow-empty"),
    _surroundings("EDITOR", "commit", "--allow-empty", terminal=True),
    _surroundings("VISUAL", "commit", "--allow-empty", terminal=True),
    _surroundings("GIT_SEQUENCE_EDITOR", "-c", "rebase.autoStash=true", "rebase", "-i", "HEAD~1"),
    _surroundings("GIT_CONFIG_PARAMETERS", "status", value="'core.fsmonitor={program}'"),
    Way(
        "GIT_CONFIG_COUNT",
        live=("status",),
        environment=(
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
            ("GIT_CONFIG_VALUE_0", "{program}"),
        ),
    ),
    _surroundings("GIT_CONFIG_GLOBAL", "status", value="{config}"),
    _surroundings("GIT_CONFIG_SYSTEM", "status", value="{config}"),
    _surroundings("GIT_EXEC_PATH", "nowhere", value="{folder}"),
    _surroundings("GIT_DIR", "status", value="{git}"),
    _surroundings("GIT_TEMPLATE_DIR", value="{folder}"),
    _surroundings("HOME", "status", value="{folder}"),
    _surroundings("XDG_CONFIG_HOME", "status", value="{folder}"),
    _surroundings("PATH", "nowhere", value="{folder}:" + os.environ.get("PATH", "")),
)  # fmt: skip

WAYS = (*SETTINGS, *ENVIRONMENT)


def run_git(folder: Path, *arguments: str, stdin: str = "") -> str:
    """Have git do something, with settings of the repository that could run a program taken away."""
    process = subprocess.run(
        [*TOLD, *arguments], cwd=folder, input=stdin, capture_output=True, text=True, check=True, env=plain()
    )
    return process.stdout.strip()


def plain(**more: str) -> dict[str, str]:
    """Return the surroundings of a person who set nothing for git."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**inherited, "TERM": "xterm", **more}


def write_repository(folder: Path) -> None:
    """Make a repository of two commits, with a branch beside them and a change that is not committed."""
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "-q", "-b", "main", ".")
    for key in ("name", "email"):
        run_git(folder, "config", f"user.{key}", "a@example.org")
    (folder / "a.txt").write_text("first\n", encoding="utf-8")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-qm", "first")
    run_git(folder, "switch", "-qc", "other")
    for branch, words in (("other", "another\n"), ("main", "second\n")):
        run_git(folder, "switch", "-q", branch)
        (folder / "a.txt").write_text(words, encoding="utf-8")
        run_git(folder, "commit", "-qam", branch)


def write_change(folder: Path) -> None:
    """Change a file and do not commit it; its size is another, so that git must read it."""
    (folder / "a.txt").write_text("a change that nobody committed\n", encoding="utf-8")


def write_way(folder: Path, way: Way, marks: Path) -> dict[str, str]:
    """
    Put the program of *way* into the repository at *folder*, settings and all; return the variables it sets.

    The program writes a file called like the way into *marks*.
    """
    program = write_program(folder / PROGRAMS / slug(way.name) / "git-nowhere", way.name, marks)
    if way.name in HOOK_FOLDERS:
        for hook in HOOKS:
            write_program(folder / HOOK_FOLDERS[way.name] / hook, way.name, marks)
    config = f"[core]\n\tfsmonitor = {program}\n"
    for name in (".gitconfig", "git/config"):
        (program.parent / name).parent.mkdir(exist_ok=True)
        (program.parent / name).write_text(config, encoding="utf-8")
    if way.signature:
        sign(folder, way.signature)
    if way.attributes:
        with open(folder / ".gitattributes", "a", encoding="utf-8") as handle:
            handle.write(f"* {way.attributes}\n")
    if way.name == "core.alternateRefsCommand":
        run_git(folder, "clone", "-q", "--bare", ".", str(program.parent / "bare"))
        alternates = folder / ".git/objects/info/alternates"
        alternates.write_text(f"{program.parent / 'bare/objects'}\n", encoding="utf-8")
    values = {
        "program": str(program),
        "config": str(program.parent / ".gitconfig"),
        "folder": str(program.parent),
    }
    if any("{git}" in value for _, value in way.environment):
        values["git"] = str(write_bare(program.parent / "bare", folder, program))
    for key, value in way.settings:
        run_git(folder, "config", "--add", key, value.format(**values))
    return {name: value.format(**values) for name, value in way.environment}


def write_program(path: Path, name: str, marks: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n: >>"{marks / slug(name)}"\nexit 1\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def write_bare(bare: Path, folder: Path, program: Path) -> Path:
    """Make a bare repository whose worktree is *folder* and whose settings run *program*."""
    run_git(folder, "clone", "-q", "--bare", ".", str(bare))
    settings = (("core.bare", "false"), ("core.worktree", str(folder)), ("core.fsmonitor", str(program)))
    for key, value in settings:
        run_git(folder, "config", "--file", str(bare / "config"), key, value)
    return bare


def sign(folder: Path, signature: str) -> None:
    """Give the newest commit a signature that begins with *signature*."""
    head, _, message = run_git(folder, "cat-file", "commit", "HEAD").partition("\n\n")
    end = signature.replace("BEGIN", "END")
    signed = f"{head}\ngpgsig {signature}\n \n AAAA\n {end}\n\n{message}\n"
    run_git(
        folder,
        "update-ref",
        "HEAD",
        run_git(folder, "hash-object", "-t", "commit", "-w", "--stdin", stdin=signed),
    )


def slug(name: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in name)


def ran(marks: Path) -> list[str]:
    """Return the names of the programs that ran."""
    return sorted(path.name for path in marks.iterdir())


def ask_git(folder: Path, arguments: Sequence[str], *, terminal: bool, **environment: str) -> None:
    """Ask git as a person would, who has no reason for distrust; what it answers does not matter."""
    stdin = b"protocol=https\nhost=nowhere.invalid\n\n" if "fill" in arguments else b"q\n"
    reading, writing = os.openpty() if terminal else (os.open(os.devnull, os.O_RDWR),) * 2
    try:
        subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=plain(**environment),
            input=stdin,
            stdout=writing,
            stderr=writing,
            timeout=PATIENCE,
        )
    finally:
        for handle in {reading, writing}:
            os.close(handle)
