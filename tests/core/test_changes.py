from hypothesis import given
from hypothesis import strategies as st

from mcp_server.core.changes import FileChange, Stamp, diff

stamps = st.dictionaries(
    st.text("abc/", min_size=1, max_size=4), st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12
).map(lambda values_by_path: [Stamp(path, *values) for path, values in sorted(values_by_path.items())])


@given(stamps, stamps)
def test_applying_the_difference_makes_both_sides_equal(on_disk: list[Stamp], indexed: list[Stamp]) -> None:
    applied = {stamp.path: stamp for stamp in indexed}
    for change, stamp in diff(on_disk, indexed):
        if change is FileChange.REMOVED:
            assert applied.pop(stamp.path) == stamp
        else:
            assert (change is FileChange.ADDED) == (stamp.path not in applied)
            applied[stamp.path] = stamp

    assert on_disk == sorted(applied.values(), key=lambda stamp: stamp.path)


@given(stamps)
def test_equal_sides_have_no_difference(side: list[Stamp]) -> None:
    assert list(diff(side, side)) == []
