"""Whether words are about the project in which they are said, or hold everywhere."""

import re

from mcp_server.core.text.everyday_words import EVERYDAY

_HERE = re.compile(
    r"\b(?:this|our) (?:project|repo|repository|code ?base|package|app|service)\b"
    r"|\b(?:in|for|of) (?:the|this) (?:project|repo|repository|code ?base)\b"
    r"|\b(?:diese[mrs]?|unsere[mrs]?) (?:Projekt|Repo|Repository)\b"
    r"|\bce (?:projet|dépôt)\b|\beste (?:proyecto|repositorio|projeto)\b",
    re.IGNORECASE,
)


def names_project(text: str, project: str) -> bool:
    """
    Tell whether *text* names the *project* it is said in: as "this project", or by its name.

    A name that is an everyday word counts only where the text calls it a project.
    """
    if _HERE.search(text):
        return True
    name = re.escape(project.strip())
    if not name:
        return False
    called = rf"(?<!\w)(?:project {name}|{name} (?:project|repo|repository))(?!\w)"
    plain = project.strip().casefold() in EVERYDAY or len(project.strip()) < 3
    pattern = called if plain else rf"(?<![\w-]){name}(?![\w-])"
    return re.search(pattern, text, re.IGNORECASE) is not None
