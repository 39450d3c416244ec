"""
Frontmatter that YAML reads as it stands: most files that Daybook wrote have no other.

Read line by line in a tenth of the time that the YAML loader takes. What might mean something else to YAML is
left to it: `tests/adapters/test_plain_frontmatter.py` compares the two.
"""

import re
from typing import Any

# Of words, every sign but a "#" at their beginning and a ":" at their end; of lists, what is no sign to YAML.
_WORD = r"[!-\"$-9;-~]++(?::[!-\"$-9;-~]++)*+"
_WORDS = rf"(?=[A-Za-z0-9]){_WORD}(?: {_WORD})*+"
_ITEM = r"[A-Za-z0-9][\w./+-]*+(?: [\w./+-]++)*+"
_LINE = re.compile(
    rf"""([a-z_]++):(?: (?:({_WORDS})|"([ !#-\[\]-~]*+)"|\[((?:{_ITEM}(?:, {_ITEM})*+)?)\])\n"""
    rf"""|\n((?:  - {_WORDS}\n)++))""",
    re.ASCII,
)


def plain_fields(block: str, most: int) -> dict[str, Any] | None:
    """
    Return key → text or list of texts, if *block* has only lines such as `key: words` or `key: [word, word]`,
    or `key:` with lines such as `  - words` below it.

    None for any other line, for a key that is there twice, and for more keys than *most*.
    """
    fields: dict[str, Any] = {}
    at = count = 0
    while line := _LINE.match(block, at):
        at, count = line.end(), count + 1
        key, words, quoted, items, dashes = line.groups()
        if dashes:
            items, between = dashes.removeprefix("  - ").removesuffix("\n"), "\n  - "
        else:
            between = ", "
        fields[key] = (words or quoted) if items is None else items.split(between) if items else []
    return fields if at == len(block) and count == len(fields) <= most else None
