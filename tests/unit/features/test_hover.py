"""Hover on links: what is shown of the note that is meant."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from synapse_ls.core.errors import ModelError
from synapse_ls.core.text import Position, Range
from synapse_ls.features.cursor import Place
from synapse_ls.features.hover import Hover, Look, hover
from synapse_ls.features.symbols import Symbol
from synapse_ls.indexer.record import note_record
from synapse_ls.links import resolver
from synapse_ls.links.dialects import DIALECTS
from synapse_ls.links.names import key
from synapse_ls.search.searcher import Semantic
from synapse_ls.store import links, notes, vectors
from synapse_ls.store.database import Connection, Index
from tests.support.index import DIMENSIONS, MODEL, vector

TARGET = """---
title: Boiler
---
# Boiler

Opening words.

## Faults

The pump stops. ^pump

- one
- two

^list

### Leak

A leak in the *kitchen*.

## Service

Every spring.

## Faults

Another kind.

### Leak

A leak in the attic.
"""
AWKWARD = "# Odd\n\nfirst\x0cfeed\u2028line\n\nthe block ^b\n\n## C# basics\n\nsharp words\n"
TOP = Range(Position(0, 0, 0, 0), Position(0, 0, 0, 0))


@contextmanager
def vault(folder: Path, texts: dict[str, str]) -> Iterator[Index]:
    """Make an index of notes."""
    index = Index(folder / "i" / "index.db")
    try:
        with index.write() as db:
            records = [note_record(path, text.encode(), 0, 1 << 20) for path, text in texts.items()]
            resolver.resolve_again(db, (), [notes.put(db, record).note for record in records])
        yield index
    finally:
        index.close()


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Give a reader of an index of the two notes above."""
    with (
        vault(tmp_path_factory.mktemp("hover"), {"House/Boiler.md": TARGET, "Odd.md": AWKWARD}) as index,
        index.read() as reader,
    ):
        yield reader


def at(db: Connection, marked: str, look: Look = Look()) -> Hover | None:  # noqa: B008 - frozen
    """Return the hover at the ``|`` of a note's text."""
    offset = marked.index("‸")
    return hover(db, Place("here.md", marked.replace("‸", ""), offset), look, Semantic(), lambda _: [])


def shown(db: Connection, link: str, look: Look = Look()) -> str:  # noqa: B008 - frozen
    """Return what a hover on a link shows below its first line."""
    found = at(db, f"before {link[:2]}‸{link[2:]} after", look)
    assert found is not None
    return found.text.partition("\n\n")[2]


@pytest.mark.parametrize(
    ("link", "first", "never"),
    [
        ("[[Boiler#Faults]]", "## Faults\n\nThe pump stops.", "Every spring"),
        ("[[Boiler#faults]]", "## Faults\n\nThe pump stops.", "Every spring"),
        ("[[Boiler#faults-1]]", "## Faults\n\nAnother kind.", "The pump"),
        ("[x](House/Boiler.md#service)", "## Service\n\nEvery spring.", "Another"),
        ("[[Boiler#Service]]", "## Service\n\nEvery spring.", "Another"),
        ("[[Boiler#Leak]]", "### Leak\n\nA leak in the *kitchen*.", "attic"),
        ("[[Boiler#leak-1]]", "### Leak\n\nA leak in the attic.", "kitchen"),
        ("[[Boiler#Boiler#Leak]]", "### Leak\n\nA leak in the *kitchen*.", "attic"),
        ("[[Boiler#^pump]]", "The pump stops. ^pump", "Opening"),
        ("[[Boiler#^list]]", "- ", "pump"),
        ("[[Boiler#Faults#Leak]]", "### Leak\n\nA leak in the *kitchen*.", "attic"),
        ("[[Boiler#faults-1#Leak]]", "### Leak\n\nA leak in the attic.", "kitchen"),
        ("[[Boiler#Nowhere#Service]]", "## Service", "Another"),
        ("[[Odd#^b]]", "the block ^b", "feed"),
        ("[[Odd#C# basics]]", "## C# basics\n\nsharp words", "block"),
        ("![[Boiler#Service]]", "## Service", "Another"),
    ],
)
def test_part_of_a_note_that_a_fragment_names(db: Connection, link: str, first: str, never: str) -> None:
    """A heading by its text or slug, the second of its name too; a block by its id."""
    text = shown(db, link)
    assert text.startswith(first)
    assert never not in text


def test_fragment_that_names_nothing_shows_the_note(db: Connection) -> None:
    """A link that is half right still helps."""
    assert "Opening words" in shown(db, "[[Boiler#Nothing]]")
    assert "Opening words" in shown(db, "[[Boiler#^nothing]]")


def test_link_to_the_note_itself_shows_its_section(tmp_path: Path) -> None:
    """A fragment alone means the note that holds it."""
    text = "# Here\n\n[[#Below]]\n\n## Below\n\nthe words below\n"
    with vault(tmp_path, {"here.md": text}) as index, index.read() as db:
        found = at(db, text.replace("[[#", "[[‸#"))
    assert found is not None
    assert found.text == "**Here** · here.md › Below\n\n## Below\n\nthe words below"


def test_head_names_title_path_and_heading(db: Connection) -> None:
    """As Markdown or as plain text, whichever is asked for."""
    found = at(db, "[[Boiler#Lea‸k]]")
    plain_ = at(db, "[[Boiler#Lea‸k]]", Look(markdown=False))
    assert found is not None
    assert plain_ is not None
    assert found.text == "**Boiler** · House/Boiler.md › Leak\n\n### Leak\n\nA leak in the *kitchen*."
    assert plain_.text == "Boiler · House/Boiler.md › Leak\n\nLeak\nA leak in the kitchen."


@pytest.mark.parametrize("text", ["no ‸link", "‸ [[Boiler]]", "[[Boiler]] ‸", "`[[Bo‸iler]]`", "", "https://‸x.org"])
def test_no_link_no_hover(db: Connection, text: str) -> None:
    """Code and words have none."""
    assert at(db, text or "‸") is None


@pytest.mark.parametrize("text", ["‸[[Boiler]]", "[[Boiler]]‸", "🍋 [[Bo‸iler]]", "| [[Boiler\\|‸b]] |\n|---|"])
def test_span_is_the_whole_link(db: Connection, text: str) -> None:
    """From its first sign to its last, wherever the cursor is."""
    found = at(db, text)
    assert found is not None
    assert found.span.slice(text.replace("‸", "")).startswith("[[Boiler")
    assert found.span.slice(text.replace("‸", "")).endswith("]]")


@pytest.mark.parametrize("markdown", [True, False])
def test_unresolved_link_names_the_nearest(db: Connection, *, markdown: bool) -> None:
    """At most three; their signs are text."""
    near = [Symbol(name, "note", f"{name}.md", TOP, "") for name in ("Boil_er", "Oiler", "Toiler", "Spoiler")]
    found = hover(db, Place("here.md", "[[Bolier]]", 4), Look(markdown=markdown), Semantic(), lambda _: near)
    assert found is not None
    if markdown:
        assert found.text.startswith("no such note: Bolier\n\nnearest:\n\n- Boil\\_er \\(Boil\\_er.md\\)\n")
    else:
        assert found.text == "no such note: Bolier\nnearest: Boil_er (Boil_er.md), Oiler (Oiler.md), Toiler (Toiler.md)"
    assert "Spoiler" not in found.text
    alone = hover(db, Place("here.md", "[[Bolier]]", 4), Look(markdown=markdown), Semantic(), lambda _: [])
    assert alone is not None
    assert alone.text == "no such note: Bolier"


@pytest.mark.parametrize("lines", [1, 2, 3, 5, 8])
def test_preview_has_at_most_so_many_lines(tmp_path: Path, lines: int) -> None:
    """Whatever ends them; what is cut is marked."""
    for number, ending in enumerate(("\n", "\r\n", "\r")):
        text = ending.join(["# Long", *(f"line {n}" for n in range(40))])
        with vault(tmp_path / str(number), {"long.md": text}) as index, index.read() as db:
            found = at(db, "[[lo‸ng]]", Look(max_lines=lines))
        assert found is not None
        assert len(found.text.replace("\r", "\n").split("\n")) <= lines
        assert found.text.endswith("…" if lines > 2 else "Long")


def test_preview_is_harmless(tmp_path: Path) -> None:
    """Title, path, heading and text of a note cannot make anything live."""
    text = "---\ntitle: '[x](command:y)'\n---\n# H <img>\n\n![i](http://z) <b>\n"
    with vault(tmp_path, {"evil <b>.md": text}) as index, index.read() as db:
        found = at(db, "[[evil <b>#H‸ <img>]]")
    assert found is not None
    assert "](" not in found.text.replace("\\]\\(", "")
    assert "<img" not in found.text.replace("\\<img", "")
    assert "<b" not in found.text.replace("\\<b", "")


LONG = "# Parts\n\n" + "\n\n".join(
    f"## {name}\n\n" + " ".join([f"The {name.lower()} is what this is about."] * 40)
    for name in ("Roof", "Cellar", "Yard")
)


@pytest.mark.parametrize("word", ["roof", "cellar", "yard"])
def test_passage_that_shares_words_with_the_paragraph_is_shown(tmp_path: Path, word: str) -> None:
    """Without vectors the words around the link choose; those of the next paragraph do not."""
    with vault(tmp_path, {"parts.md": LONG}) as index, index.read() as db:
        found = at(db, f"Roof cellar yard roof.\n\nLook at the {word} in [[par‸ts]].\n\nRoof cellar yard.")
    assert found is not None
    assert f"the {word} is what" in found.text.lower()


@pytest.mark.parametrize("part", ["Roof", "Cellar", "Yard"])
def test_passage_nearest_in_meaning_is_shown(tmp_path: Path, part: str) -> None:
    """With vectors the paragraph's own vector chooses, whatever its words."""
    directions = {"Roof": vector(1), "Cellar": vector(0, 1), "Yard": vector(0, 0, 1)}
    asked: list[str] = []
    with vault(tmp_path, {"parts.md": LONG}) as index:
        with index.write() as db:
            vectors.prepare(db, MODEL, DIMENSIONS)
            for name, direction in directions.items():
                for (key,) in db.execute("SELECT input_key FROM chunks WHERE instr(text, ?)", (f"The {name.lower()}",)):
                    vectors.put(db, key, direction)

        def embed(text: str) -> bytes:
            asked.append(text)
            return directions[part]

        with index.read() as db:
            place = Place("here.md", "Elsewhere.\n\nTurn to [[parts]] for roof.\n\nMore.", 25)
            found = hover(db, place, Look(), Semantic(embed, "ok"), lambda _: [])
    assert found is not None
    assert f"The {part.lower()} is what" in found.text
    assert asked == ["Turn to parts for roof."]


@contextmanager
def with_directions(folder: Path, text: str, directions: dict[str, bytes]) -> Iterator[Connection]:
    """Give a reader of an index of one note, ``parts.md``, whose passages with a word have the given vectors."""
    with vault(folder, {"parts.md": text}) as index:
        with index.write() as db:
            vectors.prepare(db, MODEL, DIMENSIONS)
            for word, direction in directions.items():
                for (input_key,) in db.execute("SELECT input_key FROM chunks WHERE instr(text, ?)", (word,)):
                    vectors.put(db, input_key, direction)
        with index.read() as db:
            yield db


FOREIGN = "# Teile\n\n" + "\n\n".join(
    f"## {name}\n\n" + " ".join([f"Hier geht es um {name}, und das ist nicht alles, was wir wissen."] * 30)
    for name in ("Dach", "Keller", "Hof")
)


def failing(_: str) -> bytes:
    """Be a model that fails."""
    raise ModelError("no")


@pytest.mark.parametrize(
    ("note", "semantic", "around", "part"),
    [
        (LONG, Semantic(lambda _: vector(0, 0, 1)), "What does [[par‸ts]] tell of the cellar?", "The yard"),
        (LONG, Semantic(lambda _: vector(0, 0, 1)), "Was sagt uns [[par‸ts]] über den cellar und das?", "The cellar"),
        (LONG, Semantic(lambda _: vector(0, 0, 1)), "Что в [[par‸ts]] об этом: cellar", "The cellar"),
        (
            LONG,
            Semantic(lambda _: vector(0, 0, 1), english_only=False),
            "Was sagt uns [[par‸ts]] über den cellar und das?",
            "The yard",
        ),
        (FOREIGN, Semantic(lambda _: vector(0, 0, 1)), "What does [[par‸ts]] tell of the Keller?", "um Keller"),
        (LONG, Semantic(failing), "What does [[par‸ts]] tell of the cellar?", "The cellar"),
        (LONG, Semantic(failing, model="another"), "What does [[par‸ts]] tell of the cellar?", "The cellar"),
    ],
)
def test_model_chooses_only_where_it_knows_the_language(
    tmp_path: Path, note: str, semantic: Semantic, around: str, part: str
) -> None:
    """That of the paragraph and that of the passage; words choose elsewhere, and where the model fails."""
    directions = {"The roof": vector(1), "The cellar": vector(0, 1), "The yard": vector(0, 0, 1)}
    directions |= {"um Dach": vector(1), "um Keller": vector(0, 1), "um Hof": vector(0, 0, 1)}
    offset = around.index("‸")
    with with_directions(tmp_path, note, directions) as db:
        found = hover(db, Place("here.md", around.replace("‸", ""), offset), Look(), semantic, lambda _: [])
    assert found is not None
    assert part in found.text


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("One.\r\n\r\nTwo [[par‸ts]]\r\nthree.\r\n \t\r\nFour.", "Two parts\nthree."),
        ("# Top\n\n- one\n- two [[par‸ts]]\n  goes on\n- three", "Top\ntwo parts\ngoes on"),
        ("# Top\n## Low\n\n1. one\n   - two\n     and [[par‸ts]]\n2. three", "Low\ntwo\nand parts"),
        ("## Head\n\n| a | b |\n|---|---|\n| x | [[par‸ts]] |\n| y | z |", "Head\nx parts"),
        ("> one\n>\n> two\n> [[par‸ts]]\n> three\n\nfour", "two\nparts\nthree"),
        ("# Top\nunder it [[par‸ts]]\n# Next\nover", "under it parts"),
        ("[[par‸ts]]", "parts"),
    ],
)
def test_what_counts_as_the_paragraph_around_a_link(tmp_path: Path, text: str, asked: str) -> None:
    """Whatever ends the lines; of a list its item and of a table its row, with the heading above."""
    heard: list[str] = []

    def embed(given: str) -> bytes:
        heard.append(given)
        return vector(1)

    with with_directions(tmp_path, LONG, {"The roof": vector(1)}) as db:
        place = Place("here.md", text.replace("‸", ""), text.index("‸"))
        hover(db, place, Look(), Semantic(embed, english_only=False), lambda _: [])
    assert heard == [" ".join(asked.split())]


STEPS = "\n".join(f"step_{i}()  # " + "that is done with the pump and not with the boiler " * 3 for i in range(12))
RATES = "\n".join(f"| part_{i} | " + "that is done with the pump and not with the boiler " * 3 + "|" for i in range(12))


@pytest.mark.parametrize(
    ("block", "word", "above"),
    [
        (f"```py\n{STEPS}\n```", "step_7", "```py\nstep_"),
        (f"| part | what |\n|---|---|\n{RATES}", "part_7", "| part | what |\n|---|---|\n| part_"),
        ("> [!note] Steps\n" + STEPS.replace("step", "> step").replace("()", ""), "step_7", "> [!note] Steps\n> step_"),
    ],
)
def test_passage_from_the_middle_of_a_block_reads_as_one(tmp_path: Path, block: str, word: str, above: str) -> None:
    """A fence has its first line, a table its head, a callout its title; the fence is closed within the lines."""
    with vault(tmp_path, {"long.md": f"# Long\n\n{block}\n\nThe end.\n"}) as index, index.read() as db:
        for lines in (4, 5, 6, 7, 20):
            found = at(db, f"Look for {word} in [[lo‸ng]].", Look(max_lines=lines))
            assert found is not None
            assert len(found.text.split("\n")) <= lines
            assert found.text.count("```") % 2 == 0
    assert found is not None
    assert found.text.partition("\n\n")[2].startswith(above)
    assert word in found.text


def test_block_of_many_passages_is_shown_in_one_piece(tmp_path: Path) -> None:
    """Its lines follow each other as they are written."""
    text = f"# Long\n\n```py\n{STEPS}\n```\n^code\n"
    with vault(tmp_path, {"long.md": text}) as index, index.read() as db:
        found = at(db, "[[lo‸ng#^code]]", Look(max_lines=30))
    assert found is not None
    assert found.text.partition("\n\n")[2].startswith(f"```py\n{STEPS}\n```")


@pytest.mark.parametrize("lines", range(1, 9))
@pytest.mark.parametrize("link", ["[[mi‸ssing]]", "[[sa‸me]]", "[[x‸.png]]", "[[sa‸me#Part]]"])
def test_nothing_has_more_lines_than_it_may(tmp_path: Path, link: str, lines: int) -> None:
    """Neither what is said of files, of several that could be meant, nor of what is missing."""
    texts = {f"{folder}/same.md": "# Part\n\none\n\n```\ntwo\n```" for folder in ("a", "b")}
    near = [Symbol(name, "note", f"{name}.md", TOP, "") for name in ("one", "two\nlines", "three")]
    with vault(tmp_path, texts) as index:
        with index.write() as db:
            links.put_attachments(db, [("a/x.png", key("x.png"), 1), ("b/x.png", key("x.png"), 1)], ())
        with index.read() as db:
            for markdown in (True, False):
                place = Place("here.md", link.replace("‸", ""), link.index("‸"))
                found = hover(db, place, Look(markdown=markdown, max_lines=lines), Semantic(), lambda _: near)
                assert found is not None
                assert len(found.text.split("\n")) <= lines
                assert found.text.count("```") % 2 == 0


@pytest.mark.parametrize(
    ("link", "markdown", "shown_"),
    [
        ("![[pla‸n.pdf]]", True, "**plan.pdf** · PDF, 2.0 KiB\n\nimg/plan.pdf"),
        ("[the plan](img/pla‸n.pdf)", False, "plan.pdf · PDF, 2.0 KiB\n\nimg/plan.pdf"),
        ("[[LICE‸NSE]]", False, "LICENSE · file, 5 bytes\n\nLICENSE"),
        ("[[bi‸g_.mov]]", True, "**big\\_.mov** · MOV, 3.5 GiB\n\nbig\\_.mov"),
        ("[[x‸.png]]", False, "x.png · PNG, 1 bytes\n\na/x.png\n\ncould also mean b/x.png"),
    ],
)
def test_attachment_is_named_and_not_read(tmp_path: Path, link: str, shown_: str, *, markdown: bool) -> None:
    """Its name, kind and size; the files are not even there."""
    sizes = {"img/plan.pdf": 2048, "LICENSE": 5, "big_.mov": 7 << 29, "a/x.png": 1, "b/x.png": 2}
    with vault(tmp_path, {}) as index:
        with index.write() as db:
            links.put_attachments(db, [(path, key(path), size) for path, size in sizes.items()], ())
        with index.read() as db:
            found = at(db, link, Look(markdown=markdown))
    assert found is not None
    assert found.text == shown_


def test_ambiguous_link_shows_the_nearest_and_names_the_others(tmp_path: Path) -> None:
    """In one line, at most three by name."""
    texts = {f"{folder}/same.md": f"in {folder}" for folder in ("a/b", "c", "d", "e", "f")}
    with vault(tmp_path, texts) as index, index.read() as db:
        found = at(db, "[[sa‸me]]", Look(markdown=False))
    assert found is not None
    assert found.text == ("same · c/same.md\n\ncould also mean a/b/same.md, d/same.md, e/same.md and 1 more\n\nin c")


def test_link_with_its_label_first(tmp_path: Path) -> None:
    """In a vault that writes so, the other part is the target and names the heading."""
    with vault(tmp_path, {"a.b.md": "# Top\n\n## Last\n\nthe end\n"}) as index:
        with index.write() as db:
            resolver.speak(db, DIALECTS["dendron"])
        with index.read() as db:
            found = at(db, "[[the lab‸el|a.b#last]]", Look(markdown=False))
            missing = at(db, "[[the lab‸el|x.y]]", Look(markdown=False))
    assert found is not None
    assert missing is not None
    assert found.text.endswith("the end")
    assert missing.text == "no such note: x.y"
