"""The label of a link in another tool's store."""

from mcp_server.core.errors import Rejected
from mcp_server.core.exchange.foreign import line_of
from mcp_server.core.links import RELATES_TO, as_label, check_label
from mcp_server.core.secrets.redaction import find_secrets


def label_of(value: object) -> str:
    """
    Return *value* as the label of a link; `relates-to` when it cannot be one.

    A secret stays as it was written: as a label it would not be recognised when its record is checked.
    """
    line = line_of(value)
    if find_secrets(line):
        return line
    try:
        return check_label(as_label(line))
    except Rejected:
        return RELATES_TO
