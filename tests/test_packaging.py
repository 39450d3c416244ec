"""What is installed: exact versions, within the ranges that the package asks for."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parent.parent


def pins(name: str) -> dict[str, str]:
    """Package → version of a requirements file; every line must be an exact pin."""
    lines = (PROJECT / name).read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line and not line.startswith(("#", "-r "))]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line) for line in found)
    return dict(line.split("==") for line in found)


def test_every_dependency_is_pinned_within_its_range() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime, dev = pins("requirements.txt"), pins("requirements-dev.txt")
    for wanted in map(Requirement, project["project"]["dependencies"]):
        assert runtime[wanted.name] in wanted.specifier
    for wanted in map(Requirement, project["dependency-groups"]["dev"]):
        assert dev[wanted.name] in wanted.specifier
    assert not runtime.keys() & dev.keys()
