"""What is installed: exact versions, within the ranges that the package asks for."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parent.parent


def pins(name: str) -> dict[str, str]:
    """Package → version of a requirements file; every line must be an exact pin."""
    lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
    requirements = [line for line in lines if line and not line.startswith(("#", "-r "))]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line) for line in requirements)
    return dict(line.split("==") for line in requirements)


def test_every_dependency_is_pinned_within_its_range() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime, team = pins("requirements.txt"), pins("requirements-team.txt")
    dev = pins("requirements-dev.txt")
    for requirement in map(Requirement, project["project"]["dependencies"]):
        assert runtime[requirement.name] in requirement.specifier
    for requirement in map(Requirement, project["dependency-groups"]["dev"]):
        assert dev[requirement.name] in requirement.specifier
    for requirement in map(Requirement, project["project"]["optional-dependencies"]["team"]):
        assert team[requirement.name] in requirement.specifier
    assert not runtime.keys() & dev.keys()
    assert not (runtime.keys() | dev.keys()) & team.keys()


def test_every_package_that_is_imported_is_declared_and_every_declared_one_is_imported() -> None:
    imported: set[str] = set()
    for path in (PROJECT / "mcp_server").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module).partition(".")[0])
    packages = packages_distributions()
    foreign = imported - sys.stdlib_module_names - {"mcp_server"}
    used = {re.sub(r"[_.]+", "-", name).lower() for top in foreign for name in packages[top]}

    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["team"]]
    assert used == {Requirement(requirement).name for requirement in declared}
