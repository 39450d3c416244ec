"""
Whether a turn of the person confirms what Claude said just before: "yes exactly", "perfect, that was it".

"Go on" and "ok" confirm nothing, because they may answer anything; nor does "yes, but".
The patterns were made on the sessions of `tests/data/extraction` that are not held out.
"""

import re

MOST_READ = 300  # characters at the beginning of a turn

_AGREES = re.compile(
    r"^\W*(?:(?:ah|oh|hm+|wow|ok(?:ay)?|thanks|thank you|danke|merci|gracias|спасибо)\W+)?(?:"
    r"yes|yep|yeah|yup|right|correct|exactly|precisely|perfect|great|nice|excellent|brilliant|agreed"
    r"|confirmed|lgtm|sounds (?:good|right)|makes sense|good (?:catch|find|point|idea|plan|call)|true|indeed"
    r"|(?:let['’]?s )?do (?:that|it|so)|let['’]?s (?:do|go with) (?:that|it)|(?:leave|keep) (?:it|that)"
    r"|that (?:was it|is it|works|worked|did it|fixed it|helped|solves)|that['’]?s (?:it|right|correct)"
    r"|it works|works now|fixed|go with that|you['’]?re right|you are right"
    r"|ja|jawohl|genau|richtig|stimmt|korrekt|perfekt|super|prima|passt|klingt gut|einverstanden"
    r"|das war['’]?s|so machen wir|machen wir so|mach das"
    r"|oui|exact(?:ement)?|c['’]est (?:ça|exact|juste|bon|vrai)|parfait|d['’]accord|tout à fait|très bien"
    r"|ça marche"
    r"|sí|si|exacto|correcto|perfecto|de acuerdo|eso es|así es|vale, haz|muy bien|funciona"
    r"|sì|esatto|giusto|perfetto|d['’]accordo|va bene così|sim|exato|isso mesmo|certo|perfeito|combinado"
    r"|да|верно|точно|правильно|именно|отлично|согласен|согласна|так и сделай|подходит"
    r")(?![\w'’])",
    re.IGNORECASE,
)
_CJK = re.compile(
    r"^\W*(?:对|是的|没错|正确|很好|就这样|同意"
    r"|はい|そうです|その通り|正しい|完璧|いいですね)"
)
_TAKES_BACK = re.compile(
    r"\b(?:but|except|although|however|not|n['’]t|no|wrong|aber|jedoch|nicht|kein\w*|falsch|mais|pas|sauf|pero|excepto|no"
    r"|ma|però|mas|não|но|не|нет)\b|但|不过|不是|けど|しかし|ない",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"^\W*\w+\W+(?:(?:please|bitte)\W+)?(?:go on|go ahead|continue|proceed|next|carry on|weiter"
    r"|mach weiter|continue[rz]?|vas-y|sigue|continúa|adelante|avanti|continua|дальше|продолжай"
    r"|继续|続けて)(?!\w)",
    re.IGNORECASE,
)


def assents(turn: str) -> bool:
    """Tell whether *turn*, one of the person's, confirms what Claude said just before it."""
    first = re.split(r"(?<=[.!?。！？])\s*|\n", turn.strip()[:MOST_READ], maxsplit=1)[0]
    if not (_AGREES.match(first) or _CJK.match(first)) or first.rstrip().endswith(("?", "？")):
        return False
    return not _TAKES_BACK.search(first) and not _GOES_ON.match(first)
