"""What a thread notes for the end of its answer."""

from mcp_server.adapters.index.database.trouble import Trouble
from mcp_server.core.remarks import BlockBehind, WordsRemain


def test_a_remark_comes_once_and_another_for_the_same_reason_is_kept() -> None:
    trouble = Trouble()
    for _ in range(2):
        trouble.remark(WordsRemain("The index is held."))
        trouble.remark(BlockBehind("The index is held."))

    assert [type(remark) for remark in trouble.remarks()] == [WordsRemain, BlockBehind]
    assert trouble.remarks() == []
