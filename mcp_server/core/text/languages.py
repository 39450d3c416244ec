"""
Languages: which one a text is written in, by its letters and small words, and its words without endings.

A guess need not be right: what could be French or Spanish counts as both, and what is none of those below as
English, whose endings SQLite's tokenizer knows. Endings are cut by short lists, from words without accents
(`words.folded`): that loses less than Snowball's rules, which need the accents that people leave out.
"""

import re
from collections.abc import Collection, Iterator, Set

FUNCTION_WORDS = {
    "en": """
    a about above after again all also am an and any are aren as at be because been before being below
    between both but by can could couldn did didn do does doesn doing don down during each few for from
    further get had hadn has hasn have haven having he her here hers herself him himself his how i if in
    into is isn it its itself just ll m me more most mustn my myself no nor not now of off on once only or
    other our ours ourselves out over own re s same shan she should shouldn so some such t than that the
    their theirs them themselves then there these they this those through to too under until up us ve very
    was wasn we were weren what when where which while who whom why will with won would wouldn you your
    yours yourself yourselves
    """,
    "de": """
    aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da damit dann darf
    darum das dass dazu dein dem den denn der des deshalb dich die dies diese diesem diesen dieser dieses dir
    doch dort du durch ein eine einem einen einer eines er es etwas euch euer fur gibt habe haben hat hatte
    hier ich ihm ihn ihnen ihr ihre im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinen
    konnen lasst mal man mehr mein meine mich mir mit muss mussen nach nicht nie noch nur ob oder ohne schon
    sehr sein seine seit sich sie sind so soll sollen sondern sonst uber um und uns unser unsere unter vom von
    vor wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werden wie wieso
    wir wird wo woher wohin womit wurde wurden zu zum zur zwischen
    """,
    "fr": """
    a ai ainsi alors apres au aucun aussi autre aux avant avec avez avoir avons bien c car ce cela celle celui
    ces cet cette chaque chez ci comme comment d dans de depuis des deux doit doivent donc dont du elle elles
    en encore entre est et etait ete etre eux fait faut il ils j je jusqu l la laquelle le lequel les leur
    leurs lors lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont ou par parce pas peut peuvent
    plus pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous
    sur t ta te tes toi ton tous tout toute toutes tres tu un une vers vos votre vous y
    """,
    "es": """
    a al algo ante antes aqui asi aunque cada como con contra cual cuales cuando cuanta cuantas cuanto cuantos
    de debe deben del desde despues donde dos e el ella ellas ellos en entre era es esa esas ese eso esos esta
    estan estas este esto estos fue ha hacia han hasta hay la las le les lo los mas me mi mientras mis muy
    nada ni no nos nosotros nuestra nuestro o otra otro para pero por porque puede pueden puedo pues que quien
    quienes se segun ser si sin sino sobre solo son su sus tal tambien tan tanto te tiene tienen toda todas
    todo todos tras tu tus un una unas uno unos ya yo
    """,
    "ru": """
    а без бы был была были было в вам вас весь во вот все вы где да даже для до его ее ей ему если есть
    еще же за здесь и из или им их к как какая какие какой каком ко когда кто куда ли лишь между меня мне
    может можно мой мы на над надо нам нас наш не него нее ней нельзя нет них но ну о об он она они оно
    от откуда очень перед по под почему при про с свой себя со так также там то тоже только том ты у
    уже чего чей чем что чтобы эта эти это этот я
    """,
}
"""Language → its words that say nothing of what a text is about, without accents."""
WORDS_FOR_EACH = 25  # different words of a text for each small word that tells: code has some by chance

FUNCTION_SETS = {language: frozenset(listing.split()) for language, listing in FUNCTION_WORDS.items()}
STEMMED = ("de", "fr", "es", "ru")
# Words that English texts have too, as a name, a command or by chance: these say half as much.
_EVERYWHERE = frozenset(
    """
    ai am an ante as au c car cc ci con d da de dem den des die dies do dos e el en er era es est et euch fait
    ha hat he her hier i il im in ins j l la las le les lo los m ma mal man me mi mon n ni no non nos o on ont
    os ou par pas plus pour pro s sa se sept si sin so sobre son su sur t ta tal tan te tes ton tous tout tu
    un us vers vos war was y ya yo
    """.split()
)
_TELLING = {
    language: function_words if language == "en" else function_words - _EVERYWHERE - FUNCTION_SETS["en"]
    for language, function_words in FUNCTION_SETS.items()
}
_ANY = frozenset().union(*FUNCTION_SETS.values())
_ENOUGH = 2  # one word that tells, or two that say half as much
_LETTERS = {"de": frozenset("äöüßÄÖÜ"), "fr": frozenset("çèêàùœÇÈÊÀÉ"), "es": frozenset("ñ¿¡íóúÑÍÓÚ")}
_LAST_LATIN, _FIRST_CYRILLIC, _LAST_CYRILLIC = "\u024f", "\u0400", "\u04ff"

_ENDINGS = {
    "de": """
    ationen ation ierungen ierung ieren ierten ierter iertes ierte iert ungen ung heiten heit keiten keit
    ernden erten erte ert ern ers eten ete et enden ende end est sten ster stes ste st ten tem ter tes te t
    en em er es e n s
    """,
    "fr": """
    ations ation ateurs ateur atrices atrice ements ement issements issement ments ment ables able
    ions ion ives ive ifs if euses euse eurs eur aient ait ants antes ante ant ents ent ees ee er ez ir is it
    es e s
    """,
    "es": """
    aciones acion amientos amiento imientos imiento iones ion mente ables able adores ador ados adas ado ada
    idos idas ido ida ando iendo aron ieron aban aba aran ara enes en ares arse ar er ir an as es os a e o s
    """,
    "ru": """
    ированиями ирование ирования ировании ировать ирует ируют ированный ование ования овании овать ует уют
    ениями ениях ением ению ение ении ения ений аниями аниях анием анию ание ании ания аний
    енный енная енные енного анный анная анные анного
    иями иях ями ами ях ах ого его ому ему ыми ими ая яя ое ее ые ие ий ый ой ей ых их ым им ую юю ию ии ия
    ов ев ом ем ам ям ать ять ить еть уть ает яет ают яют ит ят ат ет ут ют ала яла ила али яли или ал ял ил
    а е и о у ы ь ю я й
    """,
}
_ENDING_SETS = {language: frozenset(listing.split()) for language, listing in _ENDINGS.items()}
_LONGEST = {language: max(map(len, endings)) for language, endings in _ENDING_SETS.items()}
_SHORT_STEM = 3  # letters that are left of a word when an ending without "t" goes: "Tag", "Tage"
_STEM = 4  # when another goes: "Test" is no form of "tes"
_NO_PLURAL = ("ss", "us")  # Haus, status
_REFLEXIVE = ("ся", "сь")
_PARTICIPLE = re.compile(r"ge(\w{4,}t(?:e[mnrs]?)?)")  # "gelöscht" as "löschen"

COMPOUND = 9  # letters from which on a German word may be two
_PIECE = 4  # letters of the shorter of them


def languages_of(text: str, folded_words: Set[str]) -> tuple[str, ...]:
    """
    Return of de, fr, es and ru those in which *text* may be written, () for English and all others.

    *folded_words* are its words, folded.
    """
    if not text.isascii() and 3 * sum(map(_is_cyrillic, folded_words)) > len(folded_words):
        return ("ru",)
    # About a tenth of a text's words, so that testing them for each language is quick.
    few = folded_words & _ANY
    if len(few) * WORDS_FOR_EACH < len(folded_words) and text.isascii():
        return ()  # each counts for two at most
    telling_words = {
        language: len(few & every) + len(few & _TELLING[language])
        for language, every in FUNCTION_SETS.items()
    }
    if not text.isascii():
        for language, letters in _LETTERS.items():
            telling_words[language] += _ENOUGH * (not letters.isdisjoint(text))
    most = max(telling_words.values())
    if telling_words["en"] == most or most < _ENOUGH or most * WORDS_FOR_EACH < _ENOUGH * len(folded_words):
        return ()
    return tuple(language for language, count in telling_words.items() if count == most)


def is_foreign(text: str, folded_words: Set[str]) -> bool:
    """Tell whether *text* is in one of those languages or in other letters; *folded_words* are its own."""
    letters = [letter for letter in text if letter.isalpha()]
    # An ideograph says as much as several letters, and code stands between.
    return 4 * sum(letter > _LAST_LATIN for letter in letters) > len(letters) or bool(
        languages_of(text, folded_words)
    )


def stem(word: str, language: str) -> str:
    """Return the folded *word* of *language* without its ending."""
    if language == "ru":
        word = next((word[:-2] for end in _REFLEXIVE if word.endswith(end)), word)
    elif language == "fr" and word.endswith("aux"):
        word = f"{word[:-3]}al"  # journaux
    elif language == "de" and (participle := _PARTICIPLE.fullmatch(word)):
        word = participle[1]
    for size in range(min(_LONGEST[language], len(word) - _SHORT_STEM), 0, -1):
        ending = word[-size:]
        if ending not in _ENDING_SETS[language] or (ending == "s" and word.endswith(_NO_PLURAL)):
            continue
        least = _SHORT_STEM if size <= 2 and "t" not in ending else _STEM
        if len(word) >= size + least:
            return word[:-size]
    return word


def stems(folded_words: list[str], languages: tuple[str, ...]) -> Iterator[str]:
    """Yield what is indexed of *folded_words*: each without its ending, in order, then compounds."""
    for language in languages:
        yield mark(language)
        telling_words = [
            word for word in folded_words if word not in FUNCTION_SETS[language] and word.isalpha()
        ]
        yield from (_whole(word, language) for word in telling_words)
        if language == "de":
            for word in dict.fromkeys(telling_words):
                for head, tail in _halves(word):
                    yield _piece(head)
                    yield _piece(tail)


def mark(language: str) -> str:
    """Return the word that is indexed of every text in *language*."""
    return f"0{language}"


def stems_of_term(term: str, languages: Collection[str]) -> Iterator[str]:
    """
    Yield what the folded word *term* of a question may be indexed as.

    *languages* are those that memories are written in; that of the question need not be known.
    """
    if not term.isalpha() or not (term.isascii() or _is_cyrillic(term)):
        return
    yield from (_whole(term, language) for language in languages if (language == "ru") is not term.isascii())
    if "de" not in languages or not term.isascii():
        return
    if len(term) >= _PIECE:
        yield _piece(term)
    for head, tail in _halves(term):
        yield _whole(head, "de")
        yield _whole(tail, "de")


def _is_cyrillic(word: str) -> bool:
    return _FIRST_CYRILLIC <= word[0] <= _LAST_CYRILLIC


# A digit, which no word has there, keeps stems apart from words, and from stems of other languages.
def _whole(word: str, language: str) -> str:
    return f"{stem(word, language)}0{language}"


def _piece(word: str) -> str:
    return f"{stem(word, 'de')}1de"


def _halves(word: str) -> Iterator[tuple[str, str]]:
    """Yield each way in which a German *word* may be two."""
    if len(word) >= COMPOUND:
        for place in range(_PIECE, len(word) - _PIECE + 1):
            yield word[:place], word[place:]
