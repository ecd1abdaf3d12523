"""Words too common to search by, folded, and the language they give away."""

from collections.abc import Iterable

ENGLISH = "en"

_LISTS = {
    ENGLISH: "a about after all also am an and any are as at be been before being but by can could did do does doing "
    "don dont for from had has have having how i if in into is it its just me my no not of on or our should so some "
    "such than that the their them then there these they this those to too was we were what when where which while "
    "who whom why will with would you your",
    "de": "aber als am an auch auf aus bei bin bis das dass dem den der des die dir doch du durch ein eine einem einen "
    "einer eines er es fur gibt haben hat hatte ich ihr im in ist kann man mein mit nach nicht noch nur oder ob sich "
    "sie sind uber um und uns viele vom von vor wann war waren warum was welche welcher welches wer wenn werden wie "
    "wird wo wurde wurden zu zum zur",
    "fr": "au aux avec ce ces cette comment dans de des du elle en est et etre il ils je la le les leur lui mais meme "
    "ne nous on ont ou par pas pour pourquoi quand que quel quelle quels qui sa ses son sont sur un une vous y",
    "es": "a al como con cual cuales cuando cuanto cuantos de del donde el ella en entre era es esta este esto fue la "
    "las lo los mas mi muy no o para pero por porque que quien se ser si sin sobre su sus tiene un una y ya",
    "pt": "a ao aos as com como da das de do dos e ela ele em entre foi mais mas muito na nao nas no nos o os ou para "
    "pela pelo por qual quais quando quanto quantos que quem se sem seu sua um uma",
}
STOPWORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}


def language(words: Iterable[str]) -> str:
    """Return the language whose stop words a text holds most of; English unless two words say otherwise.

    ``words`` are folded terms, so that ``für`` is written ``fur``.
    """
    found = list(words)
    counts = {name: sum(word in stopwords for word in found) for name, stopwords in STOPWORDS.items()}
    best = max(counts, key=lambda name: counts[name])
    # One foreign word proves nothing: "war", "die" and "la" are good English searches.
    return best if counts[best] >= max(2, counts[ENGLISH] + 1) else ENGLISH
