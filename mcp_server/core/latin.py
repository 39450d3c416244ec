"""Latin letters for the letters of other scripts, so that a memory's id is readable."""

import unicodedata

_LETTERS = (
    "а a, б b, в v, г g, д d, е e, ё yo, ж zh, з z, и i, й y, к k, л l, м m, н n, о o, п p, р r, с s, т t,"
    " у u, ф f, х kh, ц ts, ч ch, ш sh, щ shch, ъ , ы y, ь , э e, ю yu, я ya, є ye, і i, ї yi, ґ g, ў u,"
    " ђ dj, ј j, љ lj, њ nj, ћ c, џ dz, α a, β v, γ g, δ d, ε e, ζ z, η i, θ th, ι i, κ k, λ l, μ m, ν n,"
    " ξ x, ο o, π p, ρ r, σ s, ς s, τ t, υ y, φ f, χ ch, ψ ps, ω o, ß ss, æ ae, œ oe, ø o, ł l,"
    " đ d, ð d, þ th, ı i,"
    " ا a, ب b, ة a, ت t, ث th, ج j, ح h, خ kh, د d, ذ dh, ر r, ز z, س s, ش sh, ص s, ض d, ط t, ظ z, ع a,"
    " غ gh, ف f, ق q, ك k, ل l, م m, ن n, ه h, و w, ى a, ي y, ء , پ p, چ ch, ژ zh, ک k, گ g, ی y,"
    " א a, ב b, ג g, ד d, ה h, ו v, ז z, ח ch, ט t, י y, כ k, ך k, ל l, מ m, ם m, נ n, ן n, ס s, ע a,"
    " פ p, ף p, צ ts, ץ ts, ק k, ר r, ש sh, ת t"
)
_LATIN = {pair.split(" ")[0]: pair.split(" ")[1] for pair in _LETTERS.replace(", ", ",").split(",")}
_BY_NAME = ("HIRAGANA LETTER ", "KATAKANA LETTER ", "HANGUL SYLLABLE ")


def latin(text: str) -> str:
    """
    Return *text* with Cyrillic, Greek, Arabic, Hebrew, kana and Hangul in Latin letters; others stay.

    Arabic and Hebrew are spelled as they are written, mostly without vowels. Chinese characters and Indian
    scripts are not spelled: their sound depends on the word, which a small table cannot know.
    """
    return text if text.isascii() else "".join(map(_spelled, unicodedata.normalize("NFC", text.lower())))


def _spelled(letter: str) -> str:
    if letter in _LATIN:
        return _LATIN[letter]
    bare = unicodedata.normalize("NFD", letter)[0]  # "ά" becomes "α"; Hangul is spelled by name below
    if bare in _LATIN:
        return _LATIN[bare]
    name = unicodedata.name(letter, "")
    known = next((script for script in _BY_NAME if name.startswith(script)), "")
    return name.removeprefix(known).removeprefix("SMALL ").lower() if known else letter
