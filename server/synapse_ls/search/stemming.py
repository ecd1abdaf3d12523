"""The beginning that the forms of an English word share."""

_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "es", "ed", "er", "ly", "s", "e", "y")
_SHORTEST = 4


def stem(word: str) -> str | None:
    """Return the stem of a folded word, at least four letters long, or None for a word that is too short for one.

    ``variables``, ``variable`` and ``varied`` are then found by one another, as the beginning of a term; a stem that
    is a little too short costs less than a form that is missed.
    """
    if len(word) <= _SHORTEST or not (word.isascii() and word.isalpha()):
        return None
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= _SHORTEST), "")
    left = word.removesuffix(ending)
    doubled = len(left) > _SHORTEST and left[-1] == left[-2] and left[-1] not in "sl"
    return left[:-1] if doubled else left
