"""Whole notes as text: what the link at a place of a note means, in each dialect."""

from collections.abc import Mapping

import pytest

from synapse_ls.indexer.record import note_record
from synapse_ls.links import resolver
from synapse_ls.links.dialects import DIALECTS
from synapse_ls.links.meaning import Ambiguous, AttachmentMeant, BlockMeant, FragmentMissing, HeadingMeant, certain
from synapse_ls.links.names import key
from synapse_ls.markdown.parser import parse
from synapse_ls.store import links, notes
from synapse_ls.store.database import Connection

PLACES = (
    "# Notes\n\n## X\n\none\n\n## X^\n\n### Deep\n\ntwo\n\n## X.\n\nthree ^b1\n\n- item ^list-1\n\n"
    "## C# & Co == more\n\n## Über Straße\n"
)
PLAIN = {
    "Riding horses.md": "", "horses.md": "", "a/note.md": PLACES, "a/my note.md": "", "b/other.md": "# Other",
    "v1.2.md": "", "Cafe\u0301.md": "", "two words.md": "", "img/a b.png": "", "img/doc.pdf": "", "x(1).md": "",
    "q.md": "---\naliases: [Quick, A/B]\n---\n# The Question",
}  # fmt: skip
HERE = "a/here.md"


def shown(db: Connection, source: str, text: str) -> str | None:  # noqa: PLR0911 - one for each kind of meaning
    """Return what the first link of a text means, as ``path``, ``path#place`` or ``path (size)``."""
    link = next(iter(parse(text, "here").note.links), None)
    if link is None:
        return None
    meaning = resolver.resolve(db, source, link)
    match certain(meaning):
        case None:
            return "nothing"
        case HeadingMeant(path=path, heading=heading):
            return f"{path}#{heading.slug}"
        case BlockMeant(path=path, id=block):
            return f"{path}#^{block}"
        case FragmentMissing(path=path, fragment=fragment):
            return f"{path}#?{fragment}"
        case AttachmentMeant(path=path, size=size):
            return f"{path} ({size})"
        case whole:
            return f"{whole.path}{' …' if isinstance(meaning, Ambiguous) else ''}"


def write(db: Connection, files: Mapping[str, str], dialect: str = "markdown") -> None:
    """Write notes and other files, in a dialect."""
    resolver.speak(db, DIALECTS[dialect])
    attached = [(path, key(path), len(text)) for path, text in files.items() if not path.endswith(".md")]
    links.put_attachments(db, attached, ())
    records = [note_record(path, text.encode(), 0, 1 << 20) for path, text in files.items() if path.endswith(".md")]
    resolver.resolve_again(db, (), [notes.put(db, record).note for record in records])


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[[horses]]", "horses.md"),
        ("[[Horses]]", "horses.md"),
        ("[[riding horses]]", "Riding horses.md"),
        ("[[two\nwords]]", "two words.md"),
        ("> [[two\n> words]]", "two words.md"),
        ("[two\nwords](../b/other.md)", "b/other.md"),
        ("[a](<my\nnote.md>)", None),
        ("| a | b |\n|---|---|\n| [[other\\|label]] | x |", "b/other.md"),
        ("| a | b |\n|---|---|\n| [[note#X^\\|label]] | x |", "a/note.md#x-1"),
        ("🍋漢字 [[other]]", "b/other.md"),
        ("[t](<https://x.org/q with spaces.md>)", None),
        ("[t](<my note.md>)", "a/my note.md"),
        ("[t](my%20note.md)", "a/my note.md"),
        ("[t](my%20note.md#x)", "a/my note.md#?x"),
        ("[t](./note.md)", "a/note.md"),
        ("[t](../b/other.md)", "b/other.md"),
        ("[t](/b/other.md)", "b/other.md"),
        ("[t](b/other.md)", "b/other.md"),
        ("[t](note.md#x-2)", "a/note.md#x-2"),
        ("[t](note.md#X)", "a/note.md#x"),
        ("[t](note.md#%C3%BCber-stra%C3%9Fe)", "a/note.md#über-straße"),
        ("[t](../x(1).md)", "x(1).md"),
        ("[t](../v1.2.md)", "v1.2.md"),
        ("[[v1.2]]", "v1.2.md"),
        ("[[v1]]", "nothing"),
        ("[[Caf\u00e9]]", "Cafe\u0301.md"),
        ("[[Cafe\u0301]]", "Cafe\u0301.md"),
        ("[t](../Caf%C3%A9.md)", "Cafe\u0301.md"),
        ("[t][ref]\n\n[ref]: ../b/other.md", "b/other.md"),
        ("[[Quick]]", "q.md"),
        ("[[quick|label]]", "q.md"),
        ("[[A/B]]", "q.md"),
        ("[[the question]]", "q.md"),
        ("[[note#X]]", "a/note.md#x"),
        ("[[note#X^]]", "a/note.md#x-1"),
        ("[[note#X.]]", "a/note.md#x-2"),
        ("[[note#x-1]]", "a/note.md#x-1"),
        ("[[note#X^#Deep]]", "a/note.md#deep"),
        ("[[note#Notes#Deep]]", "a/note.md#deep"),
        ("[[note#^b1]]", "a/note.md#^b1"),
        ("[[note#^list-1|the list]]", "a/note.md#^list-1"),
        ("[[note#^none]]", "a/note.md#?^none"),
        ("[[note#none]]", "a/note.md#?none"),
        ("[[note#]]", "a/note.md"),
        ("[[note#C# & Co == more]]", "a/note.md#c--co-more"),
        ("[[note#c--co--more]]", "a/note.md#c--co-more"),
        ("![[note#X]]", "a/note.md#x"),
        ("![[a b.png]]", "img/a b.png (0)"),
        ("![[a b.png|100]]", "img/a b.png (0)"),
        ("![alt](../img/a%20b.png)", "img/a b.png (0)"),
        ("![alt](<../img/a b.png>)", "img/a b.png (0)"),
        ("[the plan](../img/doc.pdf#page=3)", "img/doc.pdf (0)"),
        ("![[doc.pdf]]", "img/doc.pdf (0)"),
        ("[[missing|horses]]", "nothing"),
        ("[[dendron://vault/other]]", "b/other.md"),
    ],
)
def test_a_link_in_a_plain_vault(db: Connection, text: str, meant: str | None) -> None:
    """Names and paths, headings and blocks, attachments; broken lines, tables, escapes."""
    write(db, PLAIN)
    assert shown(db, HERE, text) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("[[#X]]", "a/note.md#x"),
        ("[x](#x-1)", "a/note.md#x-1"),
        ("[[#^b1]]", "a/note.md#^b1"),
        ("[[#none]]", "a/note.md#?none"),
    ],
)
def test_a_link_within_its_own_note(db: Connection, text: str, meant: str) -> None:
    """An empty target is the note itself."""
    write(db, PLAIN)
    assert shown(db, "a/note.md", text) == meant


VAULTS: dict[str, dict[str, str]] = {
    "obsidian": {"same.md": "", "b/same.md": "", "b/deep/same.md": "", "label.md": "", "pages/a___b.md": ""},
    "foam": {
        "x/tags.md": "", "a/b/tags.md": "", "only.md": "",
        "a/defined.md": "[[tags]]\n\n[tags]: ../x/tags.md 'Tags'\n[only]: ../x/tags.md 'Tags'\n",
    },
    "dendron": {
        "root.md": "", "a.b.md": "# Summary\n\n## Last\n", "a.b.markdown.md": "", "here.md": "# Here",
        "titled.note.md": "---\ntitle: Calendar View\n---\n", "assets/x.png": "12",
    },
    "logseq": {
        "pages/a___b.md": "", "pages/New%3F.md": "", "pages/Object.md": "", "pages/Board___Object.md": "",
        "pages/p.md": "title:: The Page\nalias:: One, [[Two]]\n\n- # Usage\n", "pages/Multi Word.md": "",
        "pages/yaml.md": "---\ntitle: From Yaml\n---\n", "journals/2024_01_01.md": "", "journals/2024_03_22.md": "",
        "assets/i.png": "1",
    },
    "zk": {"202401311200-a-title.md": "", "x7a2 other.md": "", "202402010000.md": "# Second", "dup/x7a2 more.md": ""},
    "mixed": {"one.md": "", "two.md": "# Titled"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "source", "text", "meant"),
    [
        ("obsidian", "b/x.md", "[[same]]", "same.md"),
        ("obsidian", "b/x.md", "[[b/same]]", "b/same.md"),
        ("obsidian", "b/x.md", "[[deep/same]]", "b/deep/same.md"),
        ("obsidian", "b/x.md", "[[missing|label]]", "nothing"),
        ("obsidian", "x.md", "[[a/b]]", "nothing"),
        ("markdown", "b/x.md", "[[same]]", "b/same.md …"),
        ("foam", "a/defined.md", "[[tags]]", "x/tags.md"),
        ("foam", "a/other.md", "[[tags]]", "a/b/tags.md …"),
        ("foam", "a/defined.md", "[[only]]", "only.md"),
        ("foam", "a/defined.md", "[[x/tags|label]]", "x/tags.md"),
        ("dendron", "x.md", "[[the label|a.b]]", "a.b.md"),
        ("dendron", "x.md", "[[a.b]]", "a.b.md"),
        ("dendron", "x.md", "[[a.b.markdown]]", "a.b.markdown.md"),
        ("dendron", "x.md", "[[b]]", "nothing"),
        ("dendron", "x.md", "[[here|a.b#last]]", "a.b.md#last"),
        ("dendron", "x.md", "[[C# label|a.b#last]]", "a.b.md#last"),
        ("dendron", "x.md", "[[label|dendron://my.vault/a.b#last]]", "a.b.md#last"),
        ("dendron", "x.md", "[[dendron://my.vault/a.b]]", "a.b.md"),
        ("dendron", "x.md", "![[a.b#summary,1:#*]]", "a.b.md#summary"),
        ("dendron", "x.md", "![[a.b#summary,1]]", "a.b.md#summary"),
        ("dendron", "x.md", "![[a.b#summary:#last]]", "a.b.md#summary"),
        ("dendron", "x.md", "![[shown|a.b]]", "a.b.md"),
        ("dendron", "x.md", "[[a.b|unknown.note]]", "a.b.md"),
        ("dendron", "x.md", "[[Calendar View|unknown.note]]", "nothing"),
        ("dendron", "a.b.md", "[[above|#summary]]", "a.b.md#summary"),
        ("dendron", "x.md", "![here](/assets/x.png)", "assets/x.png (2)"),
        ("dendron", "x.md", "![here](/assets/none.png)", "nothing"),
        ("logseq", "pages/x.md", "[[a/b]]", "pages/a___b.md"),
        ("logseq", "pages/x.md", "[[A/B]]", "pages/a___b.md"),
        ("logseq", "pages/x.md", "[[b]]", "nothing"),
        ("logseq", "pages/x.md", "[[New?]]", "pages/New%3F.md"),
        ("logseq", "pages/x.md", "[[Object]]", "pages/Object.md"),
        ("logseq", "pages/x.md", "[[Board/Object]]", "pages/Board___Object.md"),
        ("logseq", "pages/x.md", "[[the page]]", "pages/p.md"),
        ("logseq", "pages/x.md", "[[One]]", "pages/p.md"),
        ("logseq", "pages/x.md", "[[Two]]", "pages/p.md"),
        ("logseq", "pages/x.md", "[[Usage]]", "nothing"),
        ("logseq", "pages/x.md", "[[From Yaml]]", "pages/yaml.md"),
        ("logseq", "pages/x.md", "#[[multi word]]", "pages/Multi Word.md"),
        ("logseq", "pages/x.md", "[label]([[Object]])", "pages/Object.md"),
        ("logseq", "pages/x.md", "{{embed [[Object]]}}", "pages/Object.md"),
        ("logseq", "pages/x.md", "[[Jan 1st, 2024]]", "journals/2024_01_01.md"),
        ("logseq", "pages/x.md", "[[mar 22nd, 2024]]", "journals/2024_03_22.md"),
        ("logseq", "pages/x.md", "[[2024-03-22]]", "journals/2024_03_22.md"),
        ("logseq", "pages/x.md", "![i](../assets/i.png)", "assets/i.png (1)"),
        ("zk", "x.md", "[[202401311200]]", "202401311200-a-title.md"),
        ("zk", "x.md", "[[202401311200-a-title]]", "202401311200-a-title.md"),
        ("zk", "x.md", "[[202401311200 another title]]", "202401311200-a-title.md"),
        ("zk", "x.md", "[[202402010000 Second]]", "202402010000.md"),
        ("zk", "x.md", "[[x7a2]]", "x7a2 other.md …"),
        ("zk", "x.md", "[[title]]", "nothing"),
        ("mixed", "x.md", "[[one|anything]]", "one.md"),
        ("mixed", "x.md", "[[anything|one]]", "one.md"),
        ("mixed", "x.md", "[[anything|Titled]]", "nothing"),
    ],
)
def test_a_link_in_a_dialect(db: Connection, dialect: str, source: str, text: str, meant: str) -> None:
    """The order of label and target, and the names that the dialect knows."""
    write(db, VAULTS.get(dialect, VAULTS["obsidian"]), dialect)
    assert shown(db, source, text) == meant


@pytest.mark.parametrize("dialect", sorted(VAULTS))
def test_the_index_holds_what_is_answered(db: Connection, dialect: str) -> None:
    """For every link in every note, in each dialect."""
    pairs = [
        ("one", "two"), ("a/b", "Object"), ("tags", "only"), ("same", "x"), ("202401311200 t", "a.b"),
        ("i.png", "here"), ("Two", "root"),
    ]  # fmt: skip
    texts = {
        f"linking/{i}.md": f"[[{target}|{label}]] [[{target}]] [x]({target}) ![[{target}]]\n\n[[#Top]]"
        for i, (target, label) in enumerate(pairs)
    }
    write(db, {**VAULTS[dialect], **texts}, dialect)
    for path, text in texts.items():
        asked = [certain(resolver.resolve(db, path, link)) for link in parse(text, "x").note.links]
        held = db.execute(
            "SELECT coalesce(n.path, k.attachment) FROM links k JOIN notes s ON s.id = k.source "
            "LEFT JOIN notes n ON n.id = k.resolved WHERE s.path = ? ORDER BY k.id", (path,)
        ).fetchall()  # fmt: skip
        assert [(None if one is None else one.path,) for one in asked] == held
