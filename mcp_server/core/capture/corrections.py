"""
What a person says once and means to last: a correction, a standing rule, a decision, in seven languages.

A correction says that something is wrong and what is right: another thing ("no, use pnpm not npm") or a
value ("that is wrong, the port is 8081"). A rule says "from now on" or "always". What is meant only for this
moment ("no, try again", "always use that file for this") is neither. Patterns err, so their findings
wait for the person. They were made on `tests/data/corrections/chosen.tsv` and judged on `aside.tsv`.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

LEAST = 8  # characters of a sentence that can say something
MOST_DENIED = 40  # characters that may stand before the words that deny


class Correction(NamedTuple):
    """What a sentence settles: its type as a memory, and whether it says that something is wrong."""

    type: str
    corrects: bool


def correction(sentence: str) -> Correction | None:
    """Return what *sentence*, one of the person's, settles for good; None when it settles nothing."""
    if len(sentence) < LEAST and sentence.isascii():
        return None
    if is_doubtful(sentence) or _REPORTS.search(sentence):
        return None
    if _DECIDES.search(sentence):
        return Correction("decision", corrects=False)
    if _FOR_NOW.search(sentence):
        return None
    if _RULES.search(sentence):
        return Correction("preference", corrects=False)
    no, wrong, right = _denied(sentence)
    if _INSTEAD.search(right) and (no or wrong or _INSTEAD.match(right)):
        return Correction("preference", corrects=True)
    if _NOT_BUT.search(right):
        return Correction("reference", corrects=True)
    is_so, valued = bool(_IS.search(right)), bool(_VALUE.search(right))
    if (wrong and (is_so or valued)) or (no and is_so and valued):
        return Correction("reference", corrects=True)
    return None


def is_doubtful(sentence: str) -> bool:
    """Tell whether *sentence* asks, or says that its author is not sure."""
    return bool(_QUESTION.search(sentence) or _UNSURE.search(sentence))


def only_denies(sentence: str) -> bool:
    """Tell whether *sentence* says that something is not so, and nothing else."""
    no, wrong, right = _denied(sentence)
    return bool(no or wrong) and not any(map(str.isalnum, right))


def _denied(sentence: str) -> tuple[re.Match[str] | None, re.Match[str] | None, str]:
    """Return the words at the beginning of *sentence* that say no, those that say wrong, and the rest."""
    no, wrong = _NO.match(sentence), _WRONG.match(sentence)
    return no, wrong, sentence[max((match.end() for match in (no, wrong) if match), default=0) :]


def denies(turn: str) -> bool:
    """Tell whether *turn*, one of the person's, begins by saying that something is not so."""
    first = turn.strip().partition("\n")[0]
    return bool(_NO.match(first) or _WRONG.match(first))


def _any(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


def _words(*words: str) -> str:
    return rf"\b(?:{'|'.join(words)})\b"


_QUESTION = re.compile(r"[?？]\s*$")
_UNSURE = _any(
    _words("maybe", "perhaps", "might", "not sure", "should we", "could we", "what if"),
    _words("nothing yet", "i think"),
    _words("vielleicht", "eventuell", "peut-être", "quizás?", "tal vez", "может быть", "возможно", "кажется"),
    "也许|可能|多分|かもしれ|と思う",
)
# About this moment: attempts, failures, open work.
_REPORTS = _any(
    _words("errors?", "fail(?:s|ed|ing)?", "still", "broken", "crash(?:es|ed)?", "red", "again"),
    _words("keeps", "i meant"),
    _words("fehler", "immer noch", "wieder", "erreurs?", "encore", "errores?", "otra vez"),
    _words("ошибк[аи]", "опять"),
    "错误|失败|还是|エラー|失敗|まだ|また",
)
_FOR_NOW = _any(
    r"\b(?:for|like|in|with|on) (?:this|that|these|those|it)\b(?! (?:repo|project|code))",
    r"\b(?:this|that|the other|the second|the first) (?:file|one|branch|test|tab|time|line|window"
    r"|part|bit)\b",
    _words("for now", "for the moment", "today", "this time", "right now", "first", "first,"),
    _words("dies(?:es|er|e|en)? (?:mal|datei|test)", "hierfür", "dafür", "erstmal", "heute"),
    _words("cette fois", "pour l['’]instant", "esta vez", "por ahora", "на этот раз", "пока", "сегодня"),
    "这次|先|今回|とりあえず|今日",
)

# Says that something is not so, before the right thing: "no" may also just decline, "wrong" does not.
_NO = _any(
    r"^(?:no(?:pe)?|nein|non|não|нет|不|不是|いいえ|いや|actually|ojo|eigentlich)(?!\w)[\s,.:;!、，。–—-]*",
)
_BEFORE = rf"^.{{0,{MOST_DENIED}}}?"
_WRONG = _any(
    rf"{_BEFORE}\b(?:(?:is|are|['’]?s|['’]?re) )?(?:wrong|incorrect|not (?:right|correct|true))\b"
    r"(?! \w+ (?:sorry|btw))",
    rf"{_BEFORE}\bisn['’]?t (?:right|correct|true)\b",
    r"^you(?:['’]?re| are|['’]ve| have)? (?:mistaken|(?:got|have|had|mixed) (?:it|this|that|them)"
    r"(?: up| backwards| wrong)?)\b",
    r"^(?:falsch|stimmt nicht|faux|неверно|неправильно|не так)\b",
    _BEFORE + _words("ist falsch", "stimmt (?:so )?nicht", "ist nicht richtig", "du irrst dich"),
    rf"{_BEFORE}(?:c['’]est faux|n['’]est pas (?:correct|vrai|juste|exact)|tu te trompes|tu confonds)\b",
    _BEFORE + _words("está mal", "es (?:incorrecto|falso)", "no es (?:correcto|cierto)", "te equivocas"),
    _BEFORE + _words("это (?:неверно|неправильно|не так)", "ты (?:перепутал|ошибся|ошибаешься)а?"),
    "^(?:你|您)?(?:不对|错了|搞错了|弄错了)",
    "^.{0,6}(?:違(?:います|う)|間違い(?:です)?|間違って(?:います|る))",
)
# What to use instead of what, both named.
_INSTEAD = _any(
    r"(?:please )?\b(?:use|using|take|prefer|write|run|go with)\b.{1,60}?(?:\bnot|instead of"
    r"|rather than|over) (?!that\b|this\b|yet\b|now\b|the other\b)\w",
    r"\b(?:it['’]?s|we use|we take)\b.{1,60}?(?:\bnot|instead of|rather than) (?!that\b|this\b|yet\b"
    r"|now\b|the other\b)\w",
    r"[\w.-]+ (?:instead of|rather than) [\w.-]+ (?:in (?:this|the) (?:repo|project)|everywhere|here)\b",
    r"(?:bitte )?\b(?:nimm|nehmen|nutzen?|verwenden?|benutzen?)\b.{1,60}?\b(?:statt|anstatt"
    r"|anstelle von|nicht) \w",
    r"\b(?:utilise[rz]?|utilisons|prends|prenons|on utilise)\b.{1,60}?(?:\bpas|au lieu de|plutôt que"
    r"|plus jamais) \w",
    r"\b(?:usa|usamos|utiliza|utilizamos)\b.{1,60}?(?:en vez de|en lugar de|\bno) \w",
    r"\b(?:используй|используем|у нас|бери|берём)\b.{1,60}?(?:\bа не|вместо) \w",
    r".{0,12}用.{1,30}?(?:不要用|不用|而不是|代替)",
    r".{0,24}(?:ではなく|じゃなくて|の代わりに).{1,20}(?:使|にして)",
)
# A thing is so and not otherwise: the contrast itself makes it a correction.
_NOT_BUT = _any(
    r"\b(?:is|are|has|have|goes?|belongs?|lives?|runs?|takes?|returns?|stores?|means|spelled"
    r"|called)\b.{1,60}?,? (?:and )?\bnot (?:in |to |at |a |an |the )?(?!that\b|this\b|yet\b|now\b"
    r"|sure\b|working\b|so\b)\w",
    r"\b(?:ist|sind|hat|haben|heißt|heißen|liegt|liegen|läuft|laufen|stehen"
    r"|steht)\b.{1,60}?,? (?:und )?nicht (?:in |auf |im )?(?!so\b|mehr\b|ganz\b)\w+[.!]*$",
    r"\b(?:est|sont|s['’]appelle|tourne|a|se trouve)\b.{1,60}?(?:,| et) (?:non|pas) \w",
    r"\b(?:es|son|está|tiene|se llama|corre)\b.{1,60}?, no (?:un |una |el |la |en )?\w",
    r"\w.{1,60}, а не \w",
    r"\w.{0,40}(?:是|在|为).{1,30}[,，]?(?:不是|而不是)\w",
    r"(?:ではなく|じゃなくて).{1,30}(?:です|ます|だ|[\w.]+)$",
)
# A thing and its value.
_IS = _any(
    _words("is", "are", "runs?", "lives?", "listens?", "has", "have", "needs?", "takes?", "called"),
    _words("returns?", "cut"),
    _words("ist", "sind", "läuft", "laufen", "heißt", "liegt", "lauscht", "hat", "braucht"),
    _words("stehen", "steht"),
    _words("est", "sont", "s['’]appelle", "tourne", "se trouve", "écoute", "renvoie", "a"),
    _words("es", "son", "está", "corre", "se llama", "tiene", "escucha", "devuelve"),
    _words("порт", "адрес", "запускается", "называется", "лежит", "слушает", "работает", "равен"),
    _words("это", "хранится"),
    "是|在|叫|为|です|ます",
)
_VALUE = re.compile(r"\d|\w[./_-]\w")
_RULES = _any(
    r"^(?:please )?(?:from now on|going forward|in (?:the )?future)\b,? \w",
    r"\b(?:from now on|ever|every time|a partir de ahora|ab jetzt|désormais|впредь)[.!]*$",
    r"^(?:please )?(?:always|never|don['’]?t ever|do not ever) (?!mind|heard|happened|seen|had|a\b|the\b)\w",
    r"^(?:please )?(?:don['’]?t|do not) (?:use|add|write|put|commit|push|mock|touch|log) (?!that\b"
    r"|this\b|it\b|yet\b)\w",
    r"^(?:please )?(?:stop \w+ing|no more) \w",
    r"^(?:i (?:already )?told you|as i said)\b[,:]? \w.{8,}",
    r"^i (?:really |strongly |always )?(?:prefer|want all|like my)\b \w",
    r"^(?:when(?:ever)? you|every (?:time|new)|all (?:new )?\w+ (?:must|need to|have to|go(?:es)?"
    r"|should be))\b.{8,}",
    r"^\w+(?: \w+){0,3} (?:go(?:es)? (?:in(?:to)?|next to|under)|must (?:be|have|use)|are written in)\b.{3,}",
    r"\bshould always\b|\bmust (?:always|never)\b",
    r"^(?:bitte )?(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig|in zukunft)\b.{4,}",
    r"^(?:bitte )?(?:immer|nie(?:mals)?) (?!noch|wieder|mehr)\w",
    r"^(?!es\b|er\b|sie\b|das\b|ich\b|wir\b|du\b|ist\b|war\b)\w+ (?:bitte )?(?:immer|nie(?:mals)?) \w",
    r"^(?:bitte )?keine? \w+(?: \w+)? mehr\b|^ich (?:möchte|will|mag) (?:immer|keine|lieber)\b"
    r"|\bgrundsätzlich\b",
    r"^(?:à partir de maintenant|désormais|dorénavant|à l['’]avenir)\b.{4,}",
    r"^ne \w+ jamais\b|^(?!ça\b|il\b|elle\b|on\b|je\b|c['’])\w+ toujours \w|\bplus jamais (?:de )?\w"
    r"|^je (?:préfère|veux (?:des|que))\b",
    r"^(?:a partir de ahora|de ahora en adelante|en adelante|en el futuro)\b.{4,}",
    r"^nunca \w+(?:as|es)\b|^(?!él\b|ella\b|se\b)\w+ siempre \w|^siempre (?:que|usa|escribe|pon|haz"
    r"|corre)\b|^prefiero\b",
    r"^(?:с этого момента|впредь|отныне|в дальнейшем)\b.{4,}",
    r"^никогда не \w|^всегда \w+(?:й|йте|и|ите|ь|ьте)\b|^больше (?:не|никаких) \w|^предпочитаю\b",
    r"^(?:отвечай|пиши) \w",
    r"^(?:从现在起|从现在开始|以后|今后|总是|始终|永远(?:不要)?|绝对不要|千万不要).{3,}|必须|每次都要|^不要(?!紧|了)",
    r"^(?:今後|これから|以後|常に|絶対に).{3,}|必ず.{2,}|禁止",
)
_DECIDES = _any(
    r"\b(?:we|we['’]?ve|we have|the team|team|i['’]?ve|i have)(?: all| just| finally)? (?:decided"
    r"|chose|chosen|agreed|settled|opted|picked)\b (?!nothing|what|how|yet)\w",
    r"^(?:ok(?:ay)?,? )?(?:final (?:call|decision)|decision|decided)\s*[:,] ?\w|\bmade up my mind\b"
    r"|\bwe landed on\b",
    r"^let['’]?s (?:settle on|standardi[sz]e on) \w|^let['’]?s (?:go|stick"
    r"|stay) with \w.*\b(?:because|since|instead|over)\b",
    r"\bwe(?:['’]?re| are) (?:not doing|dropping|moving (?:to|off)|switching to|going with"
    r"|sticking with|staying on)\b",
    r"\bwe['’]ll (?:ship|use|keep|stay|go with|move to|drop)\b",
    r"\bwir haben (?:uns )?.{0,80}\b(?:entschieden|beschlossen|geeinigt)\b|\b(?:ist"
    r"|so) (?:beschlossen|entschieden)\b|\bwir bleiben bei\b",
    r"\b(?:on a|nous avons) (?:décidé|convenu|choisi|tranché)\b|\bc['’]est (?:acté|décidé)\b"
    r"|^on (?:part|reste) sur\b",
    r"\b(?:hemos decidido|decidimos|hemos acordado|acordamos|quedamos en|está decidido)\b",
    r"(?:^|\bмы )(?:всё, )?(?:решили|договорились|выбрали|решено)\b",
    r"(?:我们|咱们)(?:已经)?(?:决定|商定|选择了|定了)|^(?:昨天|今天)?(?:开会)?决定",
    r"(?:ことに(?:決め|し|なり)ました|ことに(?:決めた|した|なった)|で合意しました|に決めました|に決定)",
)


def what_it_corrects(before: Iterable[str], sentence: str) -> str:
    """Return the last line of *before*, what Claude said or ran, with a word of *sentence*; else ''."""
    words = set(_WORD.findall(sentence.lower()))
    for turn in reversed(list(before)):
        for line in reversed(turn.splitlines()):
            if words & set(_WORD.findall(line.lower())):
                return " ".join(line.split())[:_MOST_SHOWN]
    return ""


_WORD = re.compile(r"[^\W_][\w.+#-]{2,}")
_MOST_SHOWN = 200  # characters of the corrected line
