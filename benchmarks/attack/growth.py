"""Texts made to be slow on functions of the core, as `benchmarks/growth.py` measures them."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import mcp_server.core
from benchmarks import growth
from benchmarks.attack.outcome import Part, Round, Row

POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
WHAT = "texts made to be slow, on functions of the core: slower than the text is long, or than 64 KiB may be"


def run(round_: Round) -> list[Row]:
    """Give `count` functions every text; those that the list lacks and that take one text come last."""
    functions = growth.FUNCTIONS | dict(_unlisted())
    chosen = list(functions.items())[: round_.count]
    if round_.planted:
        growth.ATOMS = growth.ATOMS[:1]
        chosen = [("planted", lambda text: [text[at:] for at in range(0, len(text), 16)])]
    wrong: list[str] = []
    for number, (name, function) in enumerate(chosen, 1):
        wrong += growth.too_long(name, function)
        if number % 5 == 0:
            round_.progress(f"{number} of {len(chosen)} functions, {len(wrong)} wrong")
    note = f"{len(chosen)} functions, {len(growth.ATOMS)} texts of each length"
    return [Row(WHAT, len(chosen) * len(growth.ATOMS), wrong, note)]


def _unlisted() -> Iterator[tuple[str, growth.Reads]]:
    """Yield every other public function of the core that takes one text and needs nothing else."""
    listed = {name.rpartition(".")[2] for name in growth.FUNCTIONS}
    for info in pkgutil.walk_packages(mcp_server.core.__path__, "mcp_server.core."):
        module = importlib.import_module(info.name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("_") or name in listed or function.__module__ != info.name:
                continue
            parameters = inspect.signature(function).parameters.values()
            needed = [parameter for parameter in parameters if parameter.default is parameter.empty]
            if len(needed) == 1 and needed[0].annotation in (str, "str") and needed[0].kind is POSITIONAL:
                yield f"{info.name.rpartition('.')[2]}.{name}", function


PART = Part(
    "growth",
    "texts made to be slow, on every function that takes one",
    count=1000,
    quick=4,
    run=run,
    longest=2400,
)
