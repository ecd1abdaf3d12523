"""One cutting and one folding rule: what a person takes for equal meets, whichever side it stands on."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.terms import fold, index_terms, tokens

LETTERS = "aBcXéÉßłŁıİΣσςñЯяñ中文かカกไ한글हिন্দি'’-_./@:+# 12２ﬁĳ½²ŉͺ\u00ad\u200b\u200d\ufe0f👩👍🏽🇵🇱❤\ud800\x00ـʼ·"
TEXTS = st.text(st.one_of(st.sampled_from(LETTERS), st.characters()), max_size=30)
WORDS = st.text(st.sampled_from("abAB1é-'’._/"), min_size=1, max_size=12)


def meets(query: str, text: str) -> bool:
    """Return whether each token of a query stands in a text: as its parts in a row, or as a whole."""
    held = f" {' '.join(index_terms(text))} "
    return all(
        any(
            f" {spelling} " in held
            for spelling in (not token.signed and " ".join(token.parts), token.whole)
            if spelling
        )
        for token in tokens(query)
    )


def in_order(parts: list[str], terms: list[str]) -> bool:
    """Return whether all parts occur among the terms in their order."""
    rest = iter(terms)
    return all(part in rest for part in parts)


@pytest.mark.parametrize(
    ("text", "parts", "whole"),
    [
        ("multi-agent", ("multi", "agent"), "multiagent"),
        ("POL-358", ("pol", "358"), "pol358"),
        ("don't", ("don", "t"), "dont"),
        ("don’t", ("don", "t"), "dont"),
        ("GB/s", ("gb", "s"), None),
        ("azure.com", ("azure", "com"), None),
        ("GitHub.com", ("git", "hub", "com"), "github com"),
        ("getUserName", ("get", "user", "name"), "getusername"),
        ("HTTPServer", ("http", "server"), "httpserver"),
        ("snake_case", ("snake", "case"), None),
        ("__init__", ("init",), None),
        ("python3", ("python", "3"), "python3"),
        ("2026-03-14", ("2026", "03", "14"), "20260314"),
        ("3.14", ("3", "14"), None),
        ("10:30", ("10", "30"), None),
        ("½", ("1", "2"), None),
        ("Docker를", ("docker", "를"), "docker를"),
        ("हिन्दी", ("हिन्दी",), None),
        ("বাংলা", ("বাংলা",), None),
        ("Gəncə", ("gəncə",), None),
        ("中文合約", ("中文", "文合", "合約"), None),
        ("しりとり", ("しり", "りと", "とり"), None),
        ("ไทย", ("ไท", "ทย"), None),
        ("后", ("后",), None),
        ("👍", ("👍",), None),
        ("❤️", ("❤",), None),
        ("👩‍👩‍👧", ("👩👩👧",), None),
        ("👍🏽", ("👍🏽",), None),
        ("🇵🇱", ("🇵🇱",), None),
        ("1️⃣", ("1",), None),
    ],
)
def test_a_token_has_parts_and_perhaps_a_whole(text: str, parts: tuple[str, ...], whole: str | None) -> None:
    """Each text here is a single token that covers it."""
    (token,) = tokens(text)
    assert (token.parts, token.whole, token.signed) == (parts, whole, False)
    assert token.span.slice(text).strip("_") == text.strip("_")


@pytest.mark.parametrize(
    ("text", "wholes"),
    [
        ("C++", ["c++"]),
        ("C#", ["c#"]),
        ("F#, C++.", ["f#", "c++"]),
        (".NET", [".net"]),
        ("We use .NET.", [".net"]),
        ("C++17", ["c++"]),
        ("学习C++编程", ["c++"]),
        ("ASP.NET", []),
        ("c", []),
        ("a+b", []),
        ("...net", []),
        ("end. Net", []),
        ("abc#", []),
        ("C+++", []),
    ],
)
def test_signs_belong_to_some_names(text: str, wholes: list[str]) -> None:
    """``C++`` is not just any c."""
    assert [token.whole for token in tokens(text) if token.signed] == wholes


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("one two", ["one", "two"]),
        ("-dash and dash-", ["dash", "and", "dash"]),
        ("重跑gen-itgc后", ["重跑", "gen-itgc", "后"]),
        ("🎉🚀", ["🎉", "🚀"]),
        ("👩‍👩‍👧👍🏽x", ["👩‍👩‍👧", "👍🏽", "x"]),
        ("🇵🇱🇩🇪", ["🇵🇱", "🇩🇪"]),
        ("─────", []),
        ("!?()*\x00\u200b\ufe0f", []),
        ("\ud800a\udfff", ["a"]),
        ("", []),
    ],
)
def test_tokens_stand_where_they_are_written(text: str, written: list[str]) -> None:
    """Cut where the script changes, never inside a grapheme."""
    assert [token.span.slice(text) for token in tokens(text)] == written


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Chatelier", "Châtelier"),
        ("lodz", "Łódź"),
        ("strasse", "Straße"),
        ("STRASSE", "straße"),
        ("file", "ﬁle"),
        ("full", "ｆｕｌｌ"),
        ("soft", "so\u00adft"),
        ("zero", "ze\u200bro"),
        ("naïve", "nai\u0308ve"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("ISTANBUL", "İstanbul"),
        ("ısparta", "ISPARTA"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ΟΔΟΣ", "οδος"),
        ("ハンカク", "ﾊﾝｶｸ"),
        ("がぎ", "か\u3099き\u3099"),
        ("葛城", "葛\U000e0100城"),
        ("ไทยเรา", "ไทย\u200bเรา"),
        ("金門", "⾦門"),
        ("don't", "don’t"),
        ("м'ята", "мʼята"),
        ("Hawaiʻi", "Hawaii"),
        ("don't", "dont"),
        ("e-mail", "email"),
        ("e‑mail", "E-Mail"),
        ("multi-agent", "multi agent"),
        ("getUserName", "getusername"),
        ("GETUSERNAME", "getUserName"),
        ("github.com", "GitHub.com"),
        ("https://github.com/x", "https://GitHub.com/X"),
        ("user_getname", "user_getName"),
        ("snake_case", "snake case"),
        ("python3", "Python 3"),
        ("python3.11", "Python3.11"),
        ("C++", "c++"),
        ("Ｃafé", "CAFE"),
        ("x2", "x²"),
        ("коллекция", "КОЛЛЕКЦИЯ"),
        ("елка", "Ёлка"),
        ("שלום", "שָׁלוֹם"),
        ("ספר", "בית־ספר"),
        ("كتاب", "كـتـاب"),
        ("کتاب", "كتاب"),
        ("col·lecció", "coŀlecció"),
        ("❤", "❤️"),
    ],
)
def test_what_a_person_takes_for_equal_meets(one: str, other: str) -> None:
    """The first finds the second; case and composition never matter on either side."""
    assert meets(one, other)
    assert meets(one.lower(), other)
    assert meets(one, other.upper())


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("C++", "Vitamin C"),
        ("C#", "the letter c"),
        (".NET", "a net of lemons"),
        ("か", "が"),
        ("中文", "文中"),
        ("हिन्दी", "हन्द"),
        ("multi-agent", "agent multi"),
    ],
)
def test_what_differs_does_not_meet(query: str, text: str) -> None:
    """Folding stops where the meaning changes."""
    assert not meets(query, text)


@pytest.mark.parametrize(
    ("text", "term"),
    [("重跑gen-itgc后", "itgc"), ("中文合約的", "合約"), ("🎉🚀", "🚀"), ("후Docker를", "docker"), ("約", "約")],
)
def test_the_index_holds_what_stands_inside(text: str, term: str) -> None:
    """A part of a glued text is found."""
    assert term in index_terms(text)


def test_every_character_of_a_run_starts_a_term() -> None:
    """So a single one is found by prefix."""
    assert {term[0] for term in index_terms("中文合約")} == set("中文合約")


@given(TEXTS)
def test_parts_occur_in_order_among_the_terms(text: str) -> None:
    """Phrases rely on it; joined spellings come behind."""
    parts = [part for token in tokens(text) for part in token.parts]
    assert in_order(parts, index_terms(text))
    assert index_terms(text)[: len(parts)] == parts


@given(TEXTS)
def test_a_text_meets_itself_in_any_form(text: str) -> None:
    """Whatever is written is found by what is written."""
    assert meets(text, text)


@given(TEXTS)
def test_terms_are_words_for_the_full_text_table(text: str) -> None:
    """No term is empty or holds what the table's tokenizer would cut at; all but symbols are folded."""
    ascii_cuts = {chr(c) for c in range(128) if not chr(c).isalnum() and chr(c) not in "+#."}
    for term in index_terms(text):
        assert term
        assert all(word and not ascii_cuts & set(word) for word in term.split(" "))
        assert term == fold(term) or not term[0].isalnum()


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    """A folded text is its own fold."""
    assert fold(fold(text)) == fold(text)


@given(WORDS, st.sampled_from([str.lower, str.upper, str.title, str.swapcase]))
def test_case_never_keeps_a_word_from_being_found(word: str, changed: object) -> None:
    """However a reader changes the case of a word with hyphens, points and numbers, it meets."""
    assert callable(changed)
    assert meets(changed(word), word)
    assert meets(word, changed(word))


@pytest.mark.parametrize(
    "piece",
    ["a-", ".", "a.b", "a------", "Aa", "A", "中", "👍", "👩\u200d", "a\u0301", "\u0301", "C+", ".a", "a1", "a\u200b"],
)  # fmt: skip
def test_hostile_text_takes_linear_work(piece: str) -> None:
    """Twenty times the text yields twenty times the tokens, and 200 kB end at all (quadratic work would not)."""
    text = piece * (200_000 // len(piece))
    spans = [token.span for token in tokens(text)]
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert len(index_terms(text)) <= 2 * len(text) + 1
