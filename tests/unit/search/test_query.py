"""What a typed query means, and the expressions made of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.model import SearchFilter
from synapse_ls.search.query import MAX_WORDS, Query, Word, all_words, any_words, parse


def _spellings(words: tuple[Word, ...]) -> list[str]:
    return [" ".join(word.parts) for word in words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Salt Almanac", ["salt", "almanac"]),
        ("TODO: fix", ["todo", "fix"]),
        ("error:timeout", ["error timeout"]),
        ("AND OR NOT", ["and", "or", "not"]),
        ("NEAR(a b)", ["near", "a", "b"]),
        ('"unbalanced', ["unbalanced"]),
        ('5" screen 7"', ["5", "screen", "7"]),
        ("foo* (bar)", ["foo", "bar"]),
        ("title: x", ["title", "x"]),
        ("tag:", ["tag"]),
        ('path:""', ["path"]),
        ("#", []),
        ("#123", ["123"]),
        ("# heading", ["heading"]),
        ("a - b -1 --flag", ["a", "b", "1", "flag"]),
        ("well-being", ["well being"]),
        ("same same", ["same"]),
    ],
)
def test_everything_but_the_known_signs_is_literal(text: str, words: list[str]) -> None:
    """Operators of other query languages, unknown keys and lone signs are text."""
    query = parse(text)
    assert (_spellings(query.words), query.filter, query.excluded) == (words, SearchFilter(), ())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("tag:work", SearchFilter(tags=("work",))),
        ("#area/garden, slugs", SearchFilter(tags=("area/garden",))),
        ('tag:"two words"', SearchFilter(tags=("two words",))),
        ("path:Daily/ boiler", SearchFilter(folders=("Daily/",))),
        ('path:"My Notes/Sub"', SearchFilter(folders=("My Notes/Sub",))),
        ("title:lentil tag:a tag:b", SearchFilter(titles=("lentil",), tags=("a", "b"))),
    ],
)
def test_filters(text: str, wanted: SearchFilter) -> None:
    """Known keys before a colon, and tags, restrict the notes."""
    assert parse(text).filter == wanted


def test_filters_and_excluded_words_are_not_read_by_the_embedder() -> None:
    """What remains for the embedder are words and phrases as typed."""
    assert parse('How do  I "bleed a radiator" -car tag:house path:House/?').text == "How do I bleed a radiator"


def test_a_sign_within_a_phrase_is_text() -> None:
    """Inside quotes nothing is special."""
    query = parse('"-a tag:b"')
    assert (_spellings(query.phrases), query.filter, query.excluded) == (["a tag b"], SearchFilter(), ())


@pytest.mark.parametrize(
    ("text", "excluded"), [("x -damp", ["damp"]), ('-"old car"', ["old car"]), ("-e-mail", ["e mail"])]
)
def test_excluded(text: str, excluded: list[str]) -> None:
    """A minus before a word or a phrase."""
    assert _spellings(parse(text).excluded) == excluded


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("Łódź", '"lodz"'),
        ("multi-agent", '("multi agent" OR "multiagent")'),
        ("C++", '"c++"'),
        (".NET", '".net"'),
        ("azure.com", '"azure com"'),
        ("中文合約", '"中文 文合 合約"'),
        ("中", '("中" OR "中"*)'),
        ("🍋", '("🍋" OR "🍋"*)'),
        ('"salt almanac" sea', '"sea" AND "salt almanac"'),
        ("how to wash", '"wash"'),
        ("boilers", '("boilers" OR "boil"*)'),
        ("the who", '"the" AND "who"'),
        ("die war", '"die" AND "war"'),
    ],
)
def test_all_words(text: str, expression: str) -> None:
    """Every term is quoted; stop words count only among themselves, foreign ones only in company."""
    assert all_words(parse(text)) == expression


def test_any_words_takes_unspaced_runs_apart() -> None:
    """A sentence without spaces is found by its pairs."""
    assert any_words(parse("日本語")) == '"日本 本語" OR "日本" OR "本語"'


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("salt wor", '"salt" AND ("wor" OR "wor"*)'),
        ("wor ", '"wor"'),
        ("w", '"w"'),
        ("multi-ag", '("multi ag" OR "multiag" OR "multi ag"* OR "multiag"*)'),
    ],
)
def test_prefix_of_the_last_word(text: str, expression: str) -> None:
    """While typing, a word at the very end may be the beginning of a longer one."""
    assert all_words(parse(text, prefix_last=True)) == expression


def test_a_pasted_page_is_cut() -> None:
    """A very long query looks for its first words."""
    assert len(parse(" ".join(f"w{i}" for i in range(1000))).words) == MAX_WORDS


def test_a_query_is_cut_between_words() -> None:
    """The word at the cut is left out, and none is a prefix: the user is not typing there."""
    query = parse("word " * 399 + "beginning", prefix_last=True)
    assert [word.spelling for word in query.words] == ["word"]
    assert not query.words[0].prefix
    assert parse("x" * 5000).words[0].parts == ("x" * 2000,)


def test_a_long_token_is_looked_for_by_its_beginning() -> None:
    """An address of many parts by the first sixteen, a sentence without spaces by more."""
    assert [len(word.parts) for word in parse("a-" * 500 + "b").words] == [16]
    assert [len(word.parts) for word in parse("".join(map(chr, range(0x4E00, 0x4E20)))).words] == [31]
    assert [len(word.parts) for word in parse("".join(map(chr, range(0x4E00, 0x4F00)))).words] == [64]


def test_phrases_exclusions_and_filters_are_bounded() -> None:
    """The first of each count."""
    phrases = parse(" ".join(f'"a{i} b"' for i in range(99)))
    assert len(phrases.phrases) == 16
    assert len(parse(" ".join(f"-a{chr(97 + i)}" for i in range(26))).excluded) == 16
    filters = parse(" ".join(f"tag:a{i} path:b{i} title:c{i}" for i in range(60))).filter
    assert [len(texts) for texts in (filters.tags, filters.folders, filters.titles)] == [32, 32, 32]


@given(st.text())
def test_parsing_never_fails(text: str) -> None:
    """Any text is a query, and what is left for the embedder can be encoded."""
    parse(text).text.encode()


@given(st.text(alphabet='ab"-#:*() tgpahile', max_size=20))
def test_quotes_are_always_paired_in_expressions(text: str) -> None:
    """No text can end a quoted string."""
    query: Query = parse(text, prefix_last=True)
    assert (all_words(query) + any_words(query)).count('"') % 2 == 0
