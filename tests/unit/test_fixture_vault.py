"""The fixture vault and its judged queries agree, and the awkward bytes are still there."""

import re

import pytest

from tests.support.queries import (
    ALIASES,
    KEYWORDS,
    LIFE,
    LINKS,
    NEVER_FOUND,
    PARAPHRASES,
    Judged,
    JudgedLink,
)

AWKWARD = LIFE / "awkward"
NOTES = sorted(path for path in LIFE.rglob("*") if path.suffix in {".md", ".markdown"})


def _text(path: str) -> str:
    return (LIFE / path).read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize("judged", [*PARAPHRASES, *KEYWORDS, *ALIASES], ids=lambda judged: judged.query)
def test_a_judged_note_exists(judged: Judged) -> None:
    """Every query is judged by a note of the vault."""
    assert (LIFE / judged.path).is_file()


@pytest.mark.parametrize("judged", ALIASES, ids=lambda judged: judged.query)
def test_an_alias_is_written_in_the_front_matter_of_its_note(judged: Judged) -> None:
    """The alias stands between the two lines of dashes."""
    front_matter = _text(judged.path).split("---")[1]
    assert re.search(rf"(?:[\[,-] *){re.escape(judged.query)} *(?:[\],\r\n])", front_matter)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: f"{link.path} {link.written}")
def test_a_judged_link_is_written_in_its_note_and_leads_where_it_says(link: JudgedLink) -> None:
    """The link occurs exactly as written; its target and the place in it exist."""
    assert link.written in _text(link.path)
    assert link.target is None or (LIFE / link.target).is_file()
    if link.lands_on is not None:
        assert f"\n{link.lands_on}" in _text(link.target or link.path)


def test_there_are_enough_judgements() -> None:
    """Small sets would let a floor on ranking be passed by luck."""
    assert len(NOTES) >= 42
    assert len(PARAPHRASES) >= 24
    assert len(KEYWORDS) >= 16
    assert len(ALIASES) >= 6
    assert len(LINKS) >= 20
    queries = [judged.query for judged in (*PARAPHRASES, *KEYWORDS, *ALIASES)]
    assert len(set(queries)) == len(queries)


@pytest.mark.parametrize("word", NEVER_FOUND)
def test_a_forbidden_word_stands_only_where_no_search_looks(word: str) -> None:
    """One word is in the ignored folder, one in the dot folder, and neither anywhere else."""
    holders = {path.relative_to(LIFE).parts[0] for path in NOTES if word.encode() in path.read_bytes()}
    assert holders == {{"zyxwignored": "private", "zyxwhidden": ".obsidian"}[word]}
    assert "private/" in (LIFE / ".ignore").read_text("utf-8").splitlines()


def test_one_note_is_long_and_has_a_long_section_without_headings() -> None:
    """The journal is what chunking and snippets are tried on."""
    journal = _text("Journal 2025.md")
    assert 55_000 < len(journal.encode()) < 80_000
    assert max(len(section) for section in re.split(r"(?m)^#+ ", journal)) > 10_000


def test_one_note_is_linked_from_many() -> None:
    """The hub has links from at least ten other notes."""
    linking = [
        path for path in NOTES if re.search(r"\[\[Hollow Axle[]|#]", path.read_bytes().decode("utf-8", "replace"))
    ]
    assert len(linking) >= 10


def test_two_notes_share_a_name() -> None:
    """The name alone does not say which note is meant."""
    assert sum(path.name == "Checklist.md" for path in NOTES) == 2


def test_the_awkward_bytes_survive() -> None:
    """No editor and no checkout has tidied what is there to be untidy."""

    def raw(name: str) -> bytes:
        return (AWKWARD / name).read_bytes()

    assert raw("empty.md") == b""
    assert raw("only front matter.md").endswith(b"\n---\n")
    assert raw("empty front matter.md").startswith(b"---\n---\n")
    assert raw("bom.md").startswith(b"\xef\xbb\xbf---\n")
    assert raw("crlf.md").count(b"\r\n") == raw("crlf.md").count(b"\n") > 5
    assert b"\x00" in raw("nul.md")
    assert "\u2028".encode() in raw("line ends.md")
    assert b"\x0c" in raw("line ends.md")
    assert max(map(len, raw("long line.md").splitlines())) == 20_000
    assert re.search(rb"base64,[A-Za-z0-9+/]{8000,}", raw("base64 image.md"))
    assert "Crème brûlée".encode("latin-1") in raw("latin-1.md")
    with pytest.raises(UnicodeDecodeError):
        raw("latin-1.md").decode()


def test_a_front_matter_does_not_parse() -> None:
    """The note is found by its body all the same; that needs a front matter that is really broken."""
    yaml = pytest.importorskip("yaml")
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(_text("awkward/broken yaml.md").split("---\n")[1])
