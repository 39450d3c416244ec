"""Characters that nobody sees: they can hide a text, cut a word or a secret in two, and turn words round."""

UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""
A pattern for one of them: what Unicode lets a program leave out (`Default_Ignorable_Code_Point`), and the
marks of annotations. Each of 256 variation selectors may stand for a byte, so a run of them spells any text.
"""
UNSEEN_OR_MARK = f"[\u0300-\u036f]|{UNSEEN}"
"""The same, and accents that are characters of their own: a word is compared without both."""
