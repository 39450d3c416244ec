"""The pages below `results`, whose tables the benchmarks write."""

from pathlib import Path

RESULTS = Path(__file__).with_name("results")


def replace_table(page: str, name: str, text: str) -> None:
    """Replace what stands between the comments `name:start` and `name:end` of *page*, without its `.md`."""
    path = RESULTS / f"{page}.md"
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    before, _, opened = path.read_text(encoding="utf-8").partition(start)
    _, _, after = opened.partition(end)
    path.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")
