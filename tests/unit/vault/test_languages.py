"""The languages of notes, and what is said of them."""

import pytest

from synapse_ls.vault.advice import unread
from synapse_ls.vault.languages import language

GERMAN = "Der Motor ist kalt und springt nicht an, aber die Batterie ist neu."
ENGLISH = "The engine is cold and does not start, but the battery is new."


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GERMAN, "de"),
        (ENGLISH, "en"),
        ("Le moteur est froid et ne démarre pas, mais la batterie est neuve.", "fr"),
        ("El motor está frío y no arranca, pero la batería es nueva y no es de este coche.", "es"),
        ("Il motore è freddo e non parte, ma la batteria è nuova come quella della macchina di ieri.", "it"),
        ("De motor is koud en het wil niet starten, maar ook de accu wordt niet geladen.", "nl"),
        ("Silnik jest zimny i nie zapala się, ale akumulator jest nowy.", "pl"),
        ("エンジンが冷えていて始動しません。", "ja"),
        ("引擎很冷，无法启动，但是电池是新的。", "zh"),
        ("엔진이 차가워서 시동이 걸리지 않습니다.", "ko"),
        ("Двигатель холодный и не заводится.", "ru"),
        ("इंजन ठंडा है और चालू नहीं होता।", "hi"),
        ("المحرك بارد ولا يعمل", "ar"),
        ("kubectl get pods", None),
        ("1234 --- !!!", None),
        ("", None),
    ],
)  # fmt: skip
def test_language_of_a_text(text: str, code: str | None) -> None:
    """Script first, then stop words; what does not tell has none."""
    assert language(text) == code


def test_code_in_english_notes_is_english() -> None:
    """Words of other scripts among it do not count for more than they are."""
    assert language(ENGLISH + " (エンジン)") == "en"


@pytest.mark.parametrize(
    ("texts", "foreign"),
    [
        ([GERMAN] * 3, "de"),
        ([GERMAN] * 2, None),
        ([GERMAN] * 3 + [ENGLISH] * 3, None),
        ([GERMAN] * 4 + [ENGLISH] * 3, "de"),
        (["kubectl get pods"] * 9 + [GERMAN] * 3, "de"),
        ([], None),
    ],
)
def test_vault_is_foreign_if_most_of_it_is(texts: list[str], foreign: str | None) -> None:
    """Of what tells its language, more than half; a few texts tell nothing."""
    assert unread(texts, frozenset({"en"})) == foreign
