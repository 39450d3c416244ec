"""
Which memories may answer where they are shown unasked, as with a prompt.

The others are left out before anything is ranked: enough of them would leave no room for what the person
knows.
"""

import sqlite3
from collections.abc import Collection, Sequence

from mcp_server.adapters.index.memories.filters import marks
from mcp_server.adapters.index.memories.memories import MAY_WAIT
from mcp_server.core.provenance.provenance import MANUAL, SEARCHED_ALONE

_ACCEPTED = "digest IN (SELECT digest FROM accepted)"


def answering(db: sqlite3.Connection, vaults: Sequence[str], private: Collection[str]) -> list[str]:
    """
    Return those of *vaults* with a memory that may be shown unasked.

    Strangers may write outside of the *private* ones: there only what is accepted may.
    """
    any_accepted = f"SELECT 1 FROM memories WHERE vault = ? AND {_ACCEPTED} LIMIT 1"
    return [key for key in vaults if key in private or db.execute(any_accepted, (key,)).fetchone()]


def kept_back(db: sqlite3.Connection, vaults: Sequence[str], private: Collection[str]) -> set[int]:
    """Return the rows of *vaults* that may not be shown unasked; *private* is as for `answering`."""
    own = [key for key in vaults if key in private]
    others = [key for key in vaults if key not in private]
    rows = db.execute(
        f"SELECT row FROM memories WHERE vault IN ({marks(own)}) AND {MAY_WAIT} AND source != ?"
        f" AND (source IN ({marks(SEARCHED_ALONE)}) OR NOT {_ACCEPTED})"
        f" UNION ALL SELECT row FROM memories WHERE vault IN ({marks(others)}) AND NOT {_ACCEPTED}",
        (*own, MANUAL, *sorted(SEARCHED_ALONE), *others),
    )
    return {row[0] for row in rows}
