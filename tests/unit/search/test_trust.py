"""How far a note is trusted."""

import json

import pytest

from synapse_ls.core.config import TrustSettings
from synapse_ls.search.trust import Trust, factor

SETTINGS = TrustSettings(
    folders={"Archive": 0.2, "Archive/kept/": 0.9, "": 0.8}, values={"archived": 0.1, "Verified": 1.0}
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (0.25, 0.25), (0, 0.0), (1, 1.0), ("0.5", 0.5), ("archived", 0.1), ("ARCHIVED", 0.1), ("verified", 1.0),
        (["verified", "archived"], 0.1), ([0.5, None], 0.5),
    ],
)  # fmt: skip
def test_front_matter_counts_first(said: object, expected: float) -> None:
    """A number, a word of the settings, or the least of several."""
    assert Trust(SETTINGS).of("Archive/a.md", json.dumps({"trust": said})) == expected


@pytest.mark.parametrize("said", [None, True, "certainly", 7, -1, "nan", {}, [], ""])
def test_what_says_nothing_leaves_it_to_the_folder(said: object) -> None:
    """No reason to doubt, none to fail."""
    assert Trust(SETTINGS).of("Archive/a.md", json.dumps({"trust": said})) == 0.2


@pytest.mark.parametrize(
    ("path", "expected"), [("Archive/x/a.md", 0.2), ("Archive/kept/a.md", 0.9), ("a.md", 0.8), ("Archives/a.md", 0.8)]
)
def test_innermost_folder_counts(path: str, expected: float) -> None:
    """Whole names of folders, the vault itself included."""
    assert Trust(SETTINGS).of(path, "{}") == expected


def test_another_property_may_say_it() -> None:
    """A status, for example; without settings a note is trusted."""
    settings = TrustSettings("status", {}, {"superseded": 0.0})
    assert Trust(settings).of("a.md", '{"status": "superseded", "trust": 1}') == 0
    assert Trust(settings).of("a.md", "{}") == 1


@pytest.mark.parametrize(("value", "expected"), [(1.0, 1.0), (0.0, 0.5), (0.5, 0.75)])
def test_no_note_sinks_below_half(value: float, expected: float) -> None:
    """Trust moves a note, it does not hide it."""
    assert factor(value) == expected
