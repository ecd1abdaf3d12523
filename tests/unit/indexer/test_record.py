"""From bytes to records: decoding, sizes, keys."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse_ls.indexer.record import content_hash, note_record
from synapse_ls.store.records import NoteRecord
from synapse_ls.store.terms import shared

ROOM = 1 << 20


def made(data: bytes, max_bytes: int = ROOM, path: str = "folder/note.md") -> NoteRecord:
    """Return the record of a file."""
    return note_record(path, data, 0, max_bytes)


def text(record: NoteRecord) -> str:
    """Return what the chunks hold."""
    return "\n".join(chunk.text for chunk in record.chunks)


@pytest.mark.parametrize(
    ("data", "words", "problem"),
    [
        ("Żurek 味噌".encode(), "Żurek 味噌", None),
        (b"\xef\xbb\xbf# Head\n\nbody", "body", None),
        ("\ufeffŻurek".encode("utf-16-le"), "Żurek", None),
        ("\ufeffŻurek".encode("utf-16-be"), "Żurek", None),
        (b"\xff\xfeZ\x00\x00\xd8x\x00", "Z", None),
        ("caf\xe9 au lait".encode("latin-1"), "caf\ufffd au lait", "not valid UTF-8 (byte 3)"),
        (b"before\x00after", "before\x00after", None),
        (b"", "", None),
    ],
)
def test_bytes_are_read_whatever_their_encoding(data: bytes, words: str, problem: str | None) -> None:
    """What is no UTF-8 is read with replacements and named; a mark at the start tells of UTF-16."""
    record = made(data)
    assert words in text(record)
    assert (record.problem is None) if problem is None else (record.problem or "").startswith(problem)


@pytest.mark.parametrize("sign", ["é", "味", "🍋"])
def test_limit_inside_a_character_is_no_fault_of_the_note(sign: str) -> None:
    """A file cut in the middle of a character is valid up to there; its only problem is its size."""
    data = ("a" * 1023 + sign + "b" * 2000).encode()
    record = made(data, 1024)
    assert text(record) == "a" * 1023
    assert record.problem == "only the first 1 KiB are indexed; raise index.maxFileKiB to index all of it"


def test_limit_names_the_size_and_the_hash_knows_the_whole_length() -> None:
    """Two files that begin alike and differ in length are different."""
    short, long = (note_record("a.md", b"x" * 1024, 0, 1024, size) for size in (2000, 3000))
    assert (short.size, long.size) == (2000, 3000)
    assert short.hash != long.hash
    assert short.hash == content_hash(b"x" * 1024, 2000)


def test_size_at_the_limit_is_no_problem() -> None:
    """The limit itself still fits."""
    assert made(b"x" * 1024, 1024).problem is None


def test_broken_front_matter_is_a_problem_and_the_body_is_kept() -> None:
    """A note whose YAML does not parse is indexed by its body."""
    record = made(b"---\ntitle: [unclosed\n---\n\nthe body")
    assert "the body" in text(record)
    assert record.problem


def test_same_bytes_make_the_same_record() -> None:
    """Nothing but path, bytes, time and limit decides."""
    data = b"---\ntags: [a, b]\naliases: x\n---\n# One\n\nwords [[link#x|y]] #tag ^id\n\n## Two\n\nmore"
    assert made(data) == made(data)


def test_title_changes_inputs_and_not_texts() -> None:
    """A new title makes new inputs for the embedder of the same passages."""
    before, after = (made(f"---\ntitle: {title}\n---\n\none passage".encode()) for title in ("Before", "After"))
    (one,), (other,) = before.chunks, after.chunks
    assert one.text.strip() == other.text.strip() == "one passage"
    assert one.input_key != other.input_key
    assert one.key != other.key


def test_place_changes_no_key() -> None:
    """A passage that moves down is the same passage."""
    here, below = (made(above + b"# A\n\nfirst words\n\n# B\n\nlast words") for above in (b"", b"\n\n\n"))
    assert [chunk.key for chunk in here.chunks] == [chunk.key for chunk in below.chunks]
    assert [chunk.input_key for chunk in here.chunks] == [chunk.input_key for chunk in below.chunks]
    assert here.chunks[0].range.start.line + 3 == below.chunks[0].range.start.line


def test_tags_change_the_key_and_not_the_input() -> None:
    """Tags are words of every chunk, yet the embedder does not see them: no vector is made anew for them."""
    plain_, tagged = made(b"---\ntitle: T\n---\n\nwords"), made(b"---\ntitle: T\ntags: [x]\n---\n\nwords")
    assert plain_.chunks[0].key != tagged.chunks[0].key
    assert plain_.chunks[0].input_key == tagged.chunks[0].input_key


@pytest.mark.parametrize(
    "yaml",
    [
        'title: "a\\uD800b"',
        'aliases: ["x\\uDFFF"]',
        'tags: ["t\\uD834"]',
        'free: {"k\\uD800": ["v\\uDC00"]}',
        "title: a&#xD800;b",
    ],
)
def test_half_a_surrogate_pair_never_reaches_the_store(yaml: str) -> None:
    """YAML escapes can spell what no database holds."""
    record = made(f"---\n{yaml}\n---\n\nbody [[x&#xDC00;]]".encode())
    repr(record).encode()
    for value in (record.title, *record.aliases, *record.tags, record.properties, record.title_terms, record.tag_terms):
        value.encode("utf-8")
    json.loads(record.properties).__repr__().encode()
    assert "body" in text(record)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=400), st.text(max_size=300).map(lambda t: t.encode(errors="surrogatepass"))))
def test_any_bytes_make_a_record_that_can_be_stored(data: bytes) -> None:
    """Nothing a file contains can stop the indexer."""
    record = made(data)
    everything = [record.title, *record.aliases, *record.tags, record.properties, record.problem or ""]
    everything += [part for chunk in record.chunks for part in (chunk.text, chunk.terms, *chunk.heading_path)]
    everything += [
        part for link in record.links for part in (link.target, link.fragment or "", link.label or "", link.key)
    ]
    everything += [part for heading in record.headings for part in (heading.text, heading.slug)]
    everything += [block for block, _ in record.blocks] + [name.key + name.text for name in record.names]
    "".join(everything).encode("utf-8")
    assert [chunk.ordinal for chunk in record.chunks] == list(range(len(record.chunks)))
    assert not any("\n" in heading for chunk in record.chunks for heading in chunk.heading_path)


def test_page_properties_name_a_page() -> None:
    """``title::`` and ``alias::`` in the lines that open a note; further down they are text."""
    record = made(
        b"title:: The Page\nalias:: One, [[Two, too]]\ntype:: [[X]]\n\n- text\n  alias:: Not\n", path="pages/p.md"
    )
    assert (record.title, record.aliases) == ("The Page", ("Two, too", "One"))
    assert [(name.kind, name.text) for name in record.names] == [
        ("path", "pages/p"), ("alias", "Two, too"), ("alias", "One"), ("title", "The Page"), ("page", "The Page"),
    ]  # fmt: skip
    assert made(b"words\nalias:: Not\n").aliases == ()
    assert made(b"---\ntitle: Front\n---\ntitle:: Page\n").title == "Front"


def test_a_link_with_a_label_has_a_second_key() -> None:
    """Some dialects write the label first; the text of an image with a path is no target."""
    record = made(b"[[a|B.c]] [[d]] [x](e.md) ![alt](f/g.png) [[#h|i]] [[202401010000 j]]")
    assert [(link.key, link.other_key) for link in record.links] == [
        ("a", "b.c"), ("d", None), ("e", None), ("g.png", None), ("", "i"), ("202401010000 j", "202401010000"),
    ]  # fmt: skip


WORDS = " ".join(f"{letter}{i}" for i in range(1500) for letter in "abcdefgh")
ALIASES = "".join(f"  - name {i}\n" for i in range(4000))


@pytest.mark.parametrize(
    "source",
    [
        "log line here with words\n" * 8000 + "---\n",
        f"---\ntitle: {WORDS}\n---\n\n{WORDS}",
        f"---\naliases:\n{ALIASES}---\n\n{WORDS}",
        f"---\ntags:\n{ALIASES.replace('name ', 'tag')}---\n\n{WORDS}",
        f"---\naliases: [{WORDS}]\ntags: [{WORDS.replace(' ', '_')}]\n---\n\n{WORDS}",
        f"# {WORDS}\n\n{WORDS}",
    ],
    ids=["log", "title", "aliases", "tags", "long names", "heading"],
)
def test_no_long_name_is_repeated_in_every_passage(source: str) -> None:
    """What is kept grows with the note and not with its square."""
    record = made(source.encode())
    fields = (record.title_terms, record.alias_terms, record.tag_terms)
    kept = sum(
        len(part)
        for chunk in record.chunks
        for part in (*chunk.heading_path, chunk.heading_terms, chunk.terms, *shared(chunk.ordinal, *fields))
    )
    assert len(record.chunks) > 50
    assert kept < 8 * len(source)


def test_names_beyond_the_limit_are_named_and_stay_findable() -> None:
    """They are no names for links any more, but words of the note."""
    record = made(f"---\naliases:\n{ALIASES}---\n\nwords".encode())
    assert len(record.aliases) == 1000
    assert "only the first 1,000 of its 4,000 aliases are kept" in (record.problem or "")
    assert "3999" in record.alias_terms.split()


def test_a_passage_that_is_no_longer_the_first_is_written_anew() -> None:
    """Only the first one bears all names; with few names a passage is the same wherever it stands."""
    section = "# B\n\n" + "words " * 300
    for names, same in ((ALIASES, False), ("  - one\n", True)):
        alone, below = (
            {chunk.text: chunk.key for chunk in made(f"---\ntitle: T\naliases:\n{names}---\n{body}".encode()).chunks}
            for body in (section, f"# A\n\n{section}")
        )
        first = next(text for text in alone if text.startswith("# B"))
        assert (alone[first] == below[first]) is same
