"""Fields in brackets that a person types after their words: `Title | text [tags: a, b] [level: user]`."""

from collections.abc import Collection


def bracketed(words: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """
    Return *words* without what is in brackets at their end, and name → what is said there.

    Other names than *names* (in lower case), and brackets within the words, are a part of the words. What is
    said under one name twice stands there with a comma between.
    """
    fields: dict[str, str] = {}
    words = words.strip()
    while words.endswith("]"):
        before, bracket, inner = words[:-1].rpartition("[")
        name, colon, value = inner.partition(":")
        if not (bracket and colon) or name.strip().lower() not in names or "]" in value:
            break
        name = name.strip().lower()
        fields[name] = ", ".join([value.strip(), *([fields[name]] if name in fields else [])])
        words = before.rstrip()
    return words, fields
