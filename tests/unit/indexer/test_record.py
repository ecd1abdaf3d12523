"""From bytes to records: decoding, sizes, keys."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse_ls.indexer.record import content_hash, note_record
from synapse_ls.store.records import NoteRecord

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
