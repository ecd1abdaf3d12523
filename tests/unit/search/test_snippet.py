"""The lines that show why a passage was found."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.terms import fold
from synapse_ls.search.graphemes import boundary_after, boundary_before
from synapse_ls.search.query import parse
from synapse_ls.search.snippet import snippet


def _marked(text: str, query: str, length: int = 240, *, prefix_last: bool = False) -> str:
    """Return the snippet with its highlights in square brackets."""
    shown = snippet(text, parse(query, prefix_last=prefix_last), length)
    marked = shown.text
    for span in reversed(shown.highlights):
        marked = f"{marked[: span.start]}[{span.slice(marked)}]{marked[span.end :]}"
    return marked


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("A weekend in Łódź.", "lodz", "A weekend in [Łódź]."),
        ("Die Straße", "strasse", "Die [Straße]"),
        ("**Bold** [label](x.md)\n\n- item", "label", "Bold [label] item"),
        ("Write C++ and C#", "c++", "Write [C++] and C#"),
        ("a multi-agent and a multi agent", "multiagent", "a [multi-agent] and a multi agent"),
        ("a multi-agent and a multi agent", "multi-agent", "a [multi-agent] and a [multi agent]"),
        ("salt almanac, almanac salt", '"salt almanac"', "[salt almanac], almanac salt"),
        ("a salt\nalmanac", '"salt almanac"', "a [salt almanac]"),
        ("מזג האוויר בירושלים", "האוויר", "מזג [האוויר] בירושלים"),
        ("هذا كِتَابٌ قديم", "كتاب", "هذا [كِتَابٌ] قديم"),
        ("co\u00adop\u00ader\u00ada\u00adtion", "cooperation", "[co\u00adop\u00ader\u00ada\u00adtion]"),
        ("Ｆｕｌｌ width, ﬁne", "full fine", "[Ｆｕｌｌ] width, [ﬁne]"),
        ("今日はｶﾞﾗｽの日", "ガラス", "今日は[ｶﾞﾗｽ]の日"),
        ("一㍿二か\u3099三", "が", "一㍿二[か\u3099]三"),
        ("boilers boil", "boiler", "[boilers] [boil]"),
        ("我们需要中文合約的副本", "合約", "我们需要中文[合約]的副本"),
        ("我们需要中文合約的副本", "副", "我们需要中文合約的[副]本"),
        ("日本の梅雨は六月に来る", "梅雨がないのは", "日本の[梅雨]は六月に来る"),
        ("🍋 curd", "🍋", "[🍋] curd"),
        ("किताब यहाँ", "किताब", "[किताब] यहाँ"),
        ("nothing here", "boiler", "nothing here"),
    ],
)
def test_highlights_cover_whole_words(text: str, query: str, marked: str) -> None:
    """What folding makes equal is marked as written; unspaced scripts in parts."""
    assert _marked(text, query) == marked


def test_prefix_highlights_the_whole_word() -> None:
    """While typing, the word that begins so is marked."""
    assert _marked("radiators", "radi", prefix_last=True) == "[radiators]"


LONG = (
    "The first sentence says nothing at all. The second one neither, and at length. "
    "Here the boiler is bled. A last sentence follows the others."
)


def test_the_window_is_made_of_the_sentences_with_the_words() -> None:
    """Whole sentences, with ellipses where text is left out."""
    assert _marked(LONG, "bled boiler", 40) == "…Here the [boiler] is [bled].…"


def test_without_words_the_beginning_is_shown() -> None:
    """A passage found by meaning starts at its start."""
    assert _marked(LONG, "heating", 60) == "The first sentence says nothing at all.…"


@pytest.mark.parametrize("heading", ["## Boiler", "Boiler\n======", "Boiler\r\n---"])
def test_the_heading_gives_its_room_to_what_is_below(heading: str) -> None:
    """It is told beside the snippet; where a word stands only there, it is shown."""
    text = f"{heading}\n\n{LONG}"
    assert _marked(text, "heating", 60) == "The first sentence says nothing at all.…"
    assert _marked(text, "boiler bled", 40) == "…Here the [boiler] is [bled].…"
    assert _marked(text.replace("the boiler", "it"), "boiler", 60).startswith("[Boiler] The first sentence")
    assert _marked(heading, "heating") == "Boiler"


def test_of_windows_with_as_many_words_a_long_one_is_shown() -> None:
    """What follows the words often answers."""
    text = "Before all that, this and that. Bled in May. The key is in the shed, behind the ladder. " * 3
    assert _marked(text, "bled", 60).endswith("[Bled] in May. The key is in the shed, behind the ladder.…")


def test_a_long_sentence_is_entered_near_the_word() -> None:
    """No sentence boundary helps in a wall of words."""
    shown = snippet("word " * 200 + "needle " + "word " * 200, parse("needle"), 60)
    assert "needle" in shown.text
    assert shown.text.startswith("…word")
    assert shown.text.endswith("word…")
    assert len(shown.text) <= 62


def test_an_empty_passage() -> None:
    """Nothing to show is shown as nothing."""
    assert snippet("", parse("x")).text == ""


CLUSTERS = st.sampled_from(["a", "e\u0301", "👩\u200d👩\u200d👧", "🇵🇱", "👍🏽", "कि", "語", " ", ". ", "!\n"])


@given(clusters=st.lists(CLUSTERS, max_size=60), query=st.sampled_from(["a", "語", "👍", "e a", "कि"]))
def test_no_cut_inside_a_character(clusters: list[str], query: str) -> None:
    """Neither a window nor a highlight begins or ends inside what readers take for one character."""
    shown = snippet("".join(clusters), parse(query), 12)
    body = shown.text.strip("…")
    for piece in (body, *(span.slice(shown.text) for span in shown.highlights)):
        assert not piece or unicodedata.category(piece[0]) != "Mn"
        assert not piece.startswith(("\u200d", "\U0001f3fd")) or "🏽" not in "".join(clusters)
        assert not piece.endswith("\u200d")
        assert piece.count("\U0001f1f5") == piece.count("\U0001f1f1")


WORDS = st.sampled_from(
    "straße e\u0301té ﬁn ｆｕｌｌ co\u00adop ｶﾞｽ 梅雨 คน مَدْرَسَة שלום कि 한국 C++ a-b x_y 👩\u200d👧".split()  # noqa: SIM905
)


@given(words=st.lists(WORDS, min_size=1, max_size=30), picked=st.data(), glue=st.sampled_from([" ", ", ", ". ", "\n"]))
def test_highlights_fold_to_what_was_asked(words: list[str], picked: st.DataObject, glue: str) -> None:
    """In any script, however it is written: what is marked says one of the query's words, and whole characters."""
    asked = picked.draw(st.sampled_from(words))
    query = parse(asked)
    shown = snippet(glue.join(words), query, 60)
    assert shown.highlights
    terms = {term for word in query.wanted for term in (*word.parts, *((word.whole,) if word.whole else ()))}
    for span in shown.highlights:
        marked = fold(span.slice(shown.text))
        assert any(term.startswith(marked) or term in marked for term in terms)
        assert boundary_before(shown.text, span.start) == span.start
        assert boundary_after(shown.text, span.end) == span.end


@given(words=st.lists(st.sampled_from(["salt", "Almanac", "almanác", "of"]), max_size=20))
def test_a_phrase_is_one_highlight(words: list[str]) -> None:
    """Wherever it stands."""
    for span in snippet(" ".join(words), parse('"salt almanac"')).highlights:
        assert fold(span.slice(" ".join(words))) == "salt almanac"


@given(st.text(max_size=400), st.text(max_size=20), st.integers(1, 100))
def test_highlights_are_ascending_apart_and_not_empty(text: str, query: str, length: int) -> None:
    """Whatever the note and the query."""
    shown = snippet(text, parse(query, prefix_last=True), length)
    ends = [0]
    for span in shown.highlights:
        assert ends[-1] <= span.start < span.end <= len(shown.text)
        ends.append(span.end)
