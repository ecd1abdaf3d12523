"""Whatever happens to the notes, the index ends equal to one that is made anew."""

import itertools
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from synapse_ls.store.database import Index
from tests.support.indexing import HashEmbedder, running, write

FOLDERS = st.sampled_from(["", "a/", "a/b/", "c/"])
NAMES = st.sampled_from(["one.md", "two.md", "Three.md"])
BODIES = st.lists(
    st.sampled_from(
        ["the cistern overflows at night", "see [[one]]", "see [[Two]] and [[a/b/one]]", "[x](../two.md)", "# Heading",
         "## Under it #tag", "rooks nest above", "[[Alias]] ![[Three#Heading]]", "a block ^block", "#tag/sub and more"]
    ),
    max_size=5,
)  # fmt: skip
FRONT = st.sampled_from(["", "---\ntitle: Named\n---\n", "---\naliases: [Alias]\ntags: [x, y]\n---\n"])
WORDS = ("cistern", "rooks", "named", "alias", "tag", "heading", "one", "see", "two")


class Notes(RuleBasedStateMachine):
    """Notes on disk with an indexer that is told of each change by a walk or by names."""

    @initialize()
    def start(self) -> None:
        """Begin with an empty vault."""
        self.place = Path(tempfile.mkdtemp())
        self.root = self.place / "vault"
        self.root.mkdir()
        self.embedder = HashEmbedder()
        self.context = running(self.root, self.place / "index.db", self.embedder, child=False)
        self.made = self.context.__enter__()
        self.ticks = itertools.count(1)

    @rule(folder=FOLDERS, name=NAMES, front=FRONT, body=BODIES, by_name=st.booleans())
    def edit(self, folder: str, name: str, front: str, body: list[str], *, by_name: bool) -> None:
        """Write a note, new or not."""
        path = folder + name
        # The number makes the size tell of every edit, whatever the clock's steps.
        write(self.root, {path: f"{front}\n" + "\n\n".join(body) + "\n" * next(self.ticks)})
        self.tell([path], by_name=by_name)

    @rule(source=st.tuples(FOLDERS, NAMES), to=st.tuples(FOLDERS, NAMES), by_name=st.booleans())
    def move(self, source: tuple[str, str], to: tuple[str, str], *, by_name: bool) -> None:
        """Rename a note or move it to another folder, over another one too."""
        old, new = "".join(source), "".join(to)
        if (self.root / old).exists() and old != new:
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).replace(self.root / new)
            self.tell([new, old], by_name=by_name)

    @rule(source=st.sampled_from(["a", "a/b", "c"]), to=st.sampled_from(["d", "c/e", "a"]), by_name=st.booleans())
    def move_folder(self, source: str, to: str, *, by_name: bool) -> None:
        """Rename a folder with all that lies in it."""
        old, new = self.root / source, self.root / to
        if old.is_dir() and not new.exists() and not new.is_relative_to(old):
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)
            self.made.look(folders=[source, to] if by_name else [""])

    @rule(folder=FOLDERS, name=NAMES, by_name=st.booleans())
    def delete(self, folder: str, name: str, *, by_name: bool) -> None:
        """Remove a note."""
        (self.root / folder / name).unlink(missing_ok=True)
        self.tell([folder + name], by_name=by_name)

    @rule()
    def restart(self) -> None:
        """End the indexer and start another one."""
        self.context.__exit__(None, None, None)
        self.context = running(self.root, self.place / "index.db", self.embedder, child=False)
        self.made = self.context.__enter__()

    @invariant()
    def equal_to_an_index_made_anew(self) -> None:
        """Notes, chunks, links, tags, names, words, vectors."""
        if not hasattr(self, "made"):
            return
        with running(self.root, self.place / "clean" / "index.db", HashEmbedder(), child=False) as clean:
            wanted = contents(clean.index)
        shutil.rmtree(self.place / "clean")
        assert contents(self.made.index) == wanted
        assert self.made.indexer.error is None

    def tell(self, paths: list[str], *, by_name: bool) -> None:
        """Tell of files by their names or by their folder."""
        self.made.look(*(paths if by_name else ()), folders=[] if by_name else [""])

    def teardown(self) -> None:
        """End and tidy up."""
        if hasattr(self, "context"):
            self.context.__exit__(None, None, None)
            shutil.rmtree(self.place)


def contents(index: Index) -> dict[str, list[tuple[Any, ...]]]:
    """Return all that an index says, without the numbers of its rows."""
    queries = {
        "notes": "SELECT path, title, size, hash, properties, problem FROM notes",
        "chunks": "SELECT n.path, ordinal, span_start, span_end, start_line, end_utf8, heading_path, text, c.key, "
        "input_key, readable, stale, failed FROM chunks c JOIN notes n ON n.id = c.note",
        "vectors": "SELECT n.path, c.ordinal, v.key, e.embedding FROM chunks c JOIN notes n ON n.id = c.note "
        "LEFT JOIN vectors v ON v.id = c.vector LEFT JOIN embeddings e ON e.rowid = v.id",
        "live": "SELECT key FROM vectors",
        "links": "SELECT s.path, k.kind, k.target, k.fragment, k.label, k.start_line, k.start_utf8, t.path "
        "FROM links k JOIN notes s ON s.id = k.source LEFT JOIN notes t ON t.id = k.resolved",
        "tags": "SELECT n.path, name, folded FROM tags t JOIN notes n ON n.id = t.note",
        "names": "SELECT n.path, m.key, m.kind, m.text FROM names m JOIN notes n ON n.id = m.note",
        "symbols": "SELECT n.path, kind, name, s.heading FROM symbols s JOIN notes n ON n.id = s.note",
        "headings": "SELECT n.path, ordinal, level, text, slug, section_end FROM headings h "
        "JOIN notes n ON n.id = h.note",
        "blocks": "SELECT n.path, b.id, b.start_line FROM blocks b JOIN notes n ON n.id = b.note",
        "skipped": "SELECT path, reason FROM skipped",
    }
    with index.read() as db:
        found = {name: sorted(db.execute(query).fetchall(), key=repr) for name, query in queries.items()}
        for word in WORDS:
            found[f"word {word}"] = sorted(
                db.execute(
                    "SELECT n.path, c.ordinal FROM terms t JOIN chunks c ON c.id = t.rowid "
                    "JOIN notes n ON n.id = c.note WHERE terms MATCH ?",
                    (word,),
                )
            )
        found["orphans"] = db.execute("SELECT rowid FROM terms WHERE rowid NOT IN (SELECT id FROM chunks)").fetchall()
    return found


Notes.TestCase.settings = settings(
    max_examples=20, stateful_step_count=10, deadline=None, suppress_health_check=list(HealthCheck)
)
TestNotes = Notes.TestCase
