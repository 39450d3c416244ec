"""
The copies that a sync service leaves beside a file that two machines changed.

They are told by their names, which each service makes in its own way: Syncthing, Dropbox (in several
languages), Nextcloud, ownCloud and Seafile. Those of iCloud, OneDrive and Google Drive (`x 2.md`, `x-PC.md`,
`x (1).md`) have names that people give, too: they are told by their id, which the original has as well.
"""

import re

_NOTE = r"[ _]?[(\[](?P<note>[^()\[\]]+)[)\]](?: ?\(\d+\))?"
_STAMP = r"\.sync-conflict-\d{8}-\d{6}(?:-\w+)?|_conflict-\d{8}-\d{6}"
_COPY = re.compile(rf"(?P<stem>.+?)(?:{_STAMP}|{_NOTE})(?P<ending>\.\w+)")
_CONFLICT = re.compile(r"conflict|konflikt|conflit|конфликт|競合|冲突|衝突|case clash from", re.IGNORECASE)
_OF_A_COPY = re.compile(r"cop(?:y|ie|ia)|kopie|cópia|копия|コピー|副本|clash|\d{4}-\d\d-\d\d", re.IGNORECASE)


def original_of(name: str) -> str:
    """Return the name of the file of which a file called *name* is such a copy; '' when it is none."""
    if not any(sign in name for sign in ("(", "[", "conflict-")):
        return ""  # as most: a folder may have 10,000 files
    match = _COPY.fullmatch(name)
    if not match:
        return ""
    note = match["note"]
    is_copy = note is None or (_CONFLICT.search(note) and _OF_A_COPY.search(note))
    return f"{match['stem']}{match['ending']}" if is_copy else ""
