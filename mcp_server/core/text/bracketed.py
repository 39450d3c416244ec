"""Fields in brackets that a person types after their words: `Title | text [tags: a, b] [level: user]`."""

from collections.abc import Collection


def bracketed(words: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """
    Return *words* without what is in brackets at their end, and name → what is said there.

    Other names than *names*, and brackets within the words, are a part of the words. *names* are in lower
    case with `_` between their words, as in a file; a person may type a blank or a hyphen. What is said under
    one name twice stands there with a comma between.
    """
    fields: dict[str, str] = {}
    words = words.strip()
    while words.endswith("]"):
        before, bracket, inner = words[:-1].rpartition("[")
        name, colon, value = inner.partition(":")
        name = "_".join(name.lower().replace("-", " ").split())
        if not (bracket and colon) or name not in names or "]" in value:
            break
        fields[name] = ", ".join([value.strip(), *([fields[name]] if name in fields else [])])
        words = before.rstrip()
    return words, fields
