"""Notes made from a seed, for measurements that need more of them, or wilder ones, than a folder at hand has."""

import random
from pathlib import Path

_THINGS = (
    "whale", "violin", "volcano", "orchid", "glacier", "submarine", "beehive", "windmill", "lantern", "harvest",
    "telescope", "orchestra", "ferry", "cathedral", "sparrow", "compass", "vineyard", "locomotive", "mosaic", "tide",
)  # fmt: skip
_DOINGS = ("watches", "repairs", "describes", "remembers", "paints", "measures", "carries", "crosses", "follows")
_PLACES = ("at dusk", "near the harbour", "in the old library", "after the storm", "on the mountain", "in winter")

QUERIES = tuple(f"{thing} {place}" for thing in _THINGS[:10] for place in _PLACES[:2])


def name(number: int) -> str:
    """Return the path of a generated note in its vault, without its ending: twenty folders share them."""
    return f"{_THINGS[number % 20]}/note {number:05}"


def text(number: int, chance: random.Random, others: int = 100) -> str:
    """Return a note: its title, a tag, two sections of prose, and links to notes with numbers below ``others``."""
    links = " and ".join(f"[[note {chance.randrange(others):05}]]" for _ in range(2))
    thing = chance.choice(_THINGS)
    return (
        f"# The {thing} of note {number}\n\n#{chance.choice(_THINGS)} {prose(chance)}\n\nSee {links}.\n\n"
        f"## {chance.choice(_THINGS).title()}\n\n{prose(chance)}\n"
    )


def prose(chance: random.Random, sentences: int = 3) -> str:
    """Return some sentences; one of their words is found nowhere else, as a rule."""
    said = " ".join(
        f"The {chance.choice(_THINGS)} {chance.choice(_DOINGS)} the {chance.choice(_THINGS)} {chance.choice(_PLACES)}."
        for _ in range(sentences)
    )
    return f"{said} Once w{chance.randrange(10**6):06x}."


def write(vault: Path, numbers: range, seed: int) -> None:
    """Write or rewrite notes below a folder."""
    chance = random.Random(seed)  # noqa: S311 - the same notes each time, nothing secret
    for number in numbers:
        note = vault / f"{name(number)}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text(number, chance, max(numbers) + 1), encoding="utf-8")
