"""
Whether a prompt is of a kind that memories are called for by: what it is about, not which words it has.

"Deploy this" and "add a table" touch what a team has agreed on; "rename this variable" and "what is a
mutex?" do not. Written prompts of both kinds were embedded, and a direction tells them apart:
`benchmarks/calling.py` makes it, and `benchmarks/README.md` says what it is worth.
"""

import struct
from base64 import b85decode

from mcp_server.core.ports import Vector

# Of the shipped model, and of `developer_words.with_other_names`.
DIRECTION = b85decode(
    "{^8-@9`w}U@);2!1oj!=Closx%jWS8H_$KU#3lCP?fojzHrMynH4^7X9{ArqL0|>c6&9xa4eG??=mi8HsT1f9CCK3K+sNZ34*?0E"
    "E)O5;@5e4k=iL)77U9nf5Hdi~1tbjzw+QJd2O;tk56MMG)c4Wc&>RQR8B!Vm@>T)U8SD8RTEE9H8SKXc8y0_P2&p4ASt18W`Suh3"
    "7XRJ^-PQ&gLjup)%Pb$yL;c;)wc6(O2bU+SDEvG3`_1|9*5&#m2-e~d^kXM#D$N4;GdUA9xG4`H2{cmxnyd@L`S$1)3<Ar?5)+xr"
    "BnKui>_pWDMjY+*wcFvm^&1Bf$yNL?6~OD(6a2*1$^!-<73=dnF6~y)^X(uu_Vy?R;Su@z`7<R9(&pRr-xmKY2<rCOJQlwbl<x5W"
    "B1#@FB7+V;1VF#k$`%p{FX#Tt<SHx%O&kc)8|>Do^#T#Q&*<s$^ce#ZJO-ll731@(4>lqq0|Y<!;o+w0"
)
STEP = 0.007799
LEVEL = -0.0471
_BYTES: tuple[int, ...] = struct.unpack("384b", DIRECTION)


def calling(vector: Vector) -> float:
    """
    Return how much the prompt with that *vector*, by the shipped model, is of a kind that calls for memories.

    It is below 0 for one that does not; of those it was made of most lie between -2 and 2.
    """
    numbers: tuple[float, ...] = struct.unpack("<384f", vector)
    return LEVEL + STEP * sum(number * byte for number, byte in zip(numbers, _BYTES, strict=True))
