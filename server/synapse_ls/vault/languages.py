"""The language of a text, as far as that matters for the choice of a model: by its script, then by its stop words."""

import re
from collections.abc import Iterable
from typing import Final

from synapse_ls.core.terms import tokens
from synapse_ls.search.stopwords import STOPWORDS

NAMES: Final = {
    "ar": "Arabic", "cs": "Czech", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish",
    "pt": "Portuguese", "ru": "Russian or another language in Cyrillic letters", "sv": "Swedish", "th": "Thai",
    "tr": "Turkish", "zh": "Chinese",
}  # fmt: skip

_SCRIPTS: Final = {
    "kana": re.compile("[\u3040-\u30ff\uff66-\uff9f]"),
    "zh": re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]"),
    "ko": re.compile("[\uac00-\ud7a3\u1100-\u11ff]"),
    "ru": re.compile("[\u0400-\u052f]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "latin": re.compile("[A-Za-z\u00c0-\u024f]"),
}
# A sign of these scripts says about as much as so many letters.
_WORTH: Final = {"zh": 3, "kana": 2, "ko": 2}
# Folded, as those that search leaves out.
_MORE: Final = {
    "cs": "je se na ze jsem jako ktery ktera ale take nebo pro pri jeho byl byla jsou tak aby",
    "it": "il lo gli di che non per una del della dei delle nel nella sono anche con piu come questo questa alla dal "
    "dalla essere ma si",
    "nl": "het een en van ik te dat die niet zijn met voor maar ook bij wordt werd naar aan deze dit hebben heeft wij",
    "pl": "nie sie jest na ze jak ale dla czy tak przez oraz ktory ktora sa tylko moze byc jego tym",
    "sv": "och att det som en pa ar av for med till den inte jag har om ett men var sig fran",
    "tr": "bir ve bu icin ile da de ama gibi daha cok olarak olan ne kadar sonra ben o",
}
_STOPWORDS: Final = dict(STOPWORDS) | {language: frozenset(words.split()) for language, words in _MORE.items()}
_TELLING: Final = 3
_MOST: Final = 2_000
# From this share of a text on, letters that Chinese does not have make it Japanese.
_KANA: Final = 0.05


def language(text: str) -> str | None:
    """Return the code of the language that a text is written in; None where it does not tell."""
    text = text[:_MOST]
    counts = {name: len(script.findall(text)) * _WORTH.get(name, 1) for name, script in _SCRIPTS.items()}
    total = sum(counts.values())
    if not total:
        return None
    if counts["kana"] >= _KANA * (counts["kana"] + counts["zh"]) and counts["kana"]:
        counts["ja"] = counts.pop("kana") + counts.pop("zh")
    best = max(counts, key=lambda name: counts[name])
    if 2 * counts[best] <= total:
        return None
    return best if best != "latin" else _by_stop_words(word for token in tokens(text) for word in token.parts)


def _by_stop_words(words: Iterable[str]) -> str | None:
    held = list(words)
    counts = sorted((sum(word in common for word in held), name) for name, common in _STOPWORDS.items())
    (second, _), (best, name) = counts[-2:]
    return name if best >= _TELLING and best > second else None
