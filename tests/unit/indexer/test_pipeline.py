"""The indexer: what it reads, writes and embeds, and what it does when things fail."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import permutations
from pathlib import Path

import pytest

from synapse_ls.core.config import IndexSettings, LinkSettings, Settings
from synapse_ls.core.errors import ModelError
from synapse_ls.indexer import pipeline, walk
from synapse_ls.indexer.pipeline import Indexer
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.store import notes, vectors
from synapse_ls.store.database import Connection, Index
from synapse_ls.store.records import NoteRecord
from tests.support.indexing import PATIENCE, HashEmbedder, Running, make_socket, running, write

WAITING = "SELECT count(*) FROM chunks WHERE readable AND (vector IS NULL OR stale) AND NOT failed"
SENTENCES = ["the cistern overflows at night", "rooks nest above the barn", "a kiln needs three days to cool"]


def paragraphs(count: int) -> str:
    """Return a text of paragraphs that are all different and long enough to make many chunks."""
    return "\n\n".join(
        f"Paragraph {number} says that {SENTENCES[number % 3]} and that {number * 7919 % 1009} comes after "
        f"{number * 104_729 % 997}; " + " ".join(f"word{number * 31 + i}" for i in range(60))
        for number in range(count)
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give an empty vault."""
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Give the place of an index."""
    return tmp_path / "cache" / "index.db"


def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition that another process or the system brings about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.01)


def test_first_index_holds_notes_words_and_vectors(root: Path, index: Path) -> None:
    """After the first pass every note is there with its words, and every chunk has its vector."""
    write(root, {"a.md": "# Alpha\n\nThe cistern overflows.", "sub/b.md": "See [[a]].", "c.txt": "no note"})
    embedder = HashEmbedder()
    with running(root, index, embedder) as made:
        assert made.paths() == ["a.md", "sub/b.md"]
        assert made.rows(WAITING) == [(0,)]
        assert made.rows("SELECT n.path FROM links k JOIN notes n ON n.id = k.resolved") == [("a.md",)]
        assert made.rows("SELECT n.path FROM terms t JOIN chunks c ON c.id = t.rowid JOIN notes n ON n.id = c.note "
                         "WHERE terms MATCH 'cistern'") == [("a.md",)]  # fmt: skip
        assert made.indexer.counters.chunks_embedded == len(embedder.seen) == 2


def test_restart_reads_and_embeds_nothing(root: Path, index: Path) -> None:
    """A vault that did not change is looked at by stamps alone."""
    write(root, {"a.md": "one", "b.md": "two"})
    with running(root, index, HashEmbedder()):
        pass
    again = HashEmbedder()
    with running(root, index, again) as made:
        assert (made.indexer.counters.files_read, again.seen) == (0, [])
        assert made.paths() == ["a.md", "b.md"]


def test_same_bytes_with_a_new_time_are_read_but_not_written(root: Path, index: Path) -> None:
    """A touched file costs one read; its stamp is taken over so that the next start reads nothing."""
    write(root, {"a.md": "one"})
    with running(root, index, HashEmbedder()) as made:
        os.utime(root / "a.md", ns=(5 * 10**9, 5 * 10**9))
        made.look(folders=[""])
        assert made.indexer.counters.files_read == 2
        assert made.rows("SELECT mtime_ns FROM notes") == [(5 * 10**9,)]
        made.look(folders=[""])
        assert made.indexer.counters.files_read == 2


def test_edit_touches_only_the_chunks_that_changed(root: Path, index: Path) -> None:
    """One changed section of three embeds one chunk and keeps the others."""
    sections = [f"# Part {n}\n\n{paragraphs(1)} {n}\n" for n in range(3)]
    write(root, {"a.md": "\n".join(sections)})
    embedder = HashEmbedder()
    with running(root, index, embedder) as made:
        chunks = made.rows("SELECT count(*) FROM chunks")[0][0]
        embedder.seen.clear()
        write(root, {"a.md": "\n".join([*sections[:2], sections[2] + "and more\n"])})
        made.look("a.md")
        assert len(embedder.seen) == 1
        assert made.indexer.counters.chunks_reused == chunks - 1


@pytest.mark.parametrize("headings", [True, False])
def test_paragraph_on_top_of_a_long_note_embeds_at_most_two_chunks(root: Path, index: Path, *, headings: bool) -> None:
    """Chunk boundaries depend on what is written there, not on how far it is from the top."""
    body = paragraphs(60)
    long = f"# Long\n\n{body}\n" if headings else body
    write(root, {"long.md": long})
    embedder = HashEmbedder()
    with running(root, index, embedder, child=False) as made:
        assert len(embedder.seen) > 10
        embedder.seen.clear()
        new = "A paragraph that nobody has read before, of a few words."
        write(root, {"long.md": long.replace("# Long\n\n", f"# Long\n\n{new}\n\n") if headings else f"{new}\n\n{long}"})
        made.look("long.md")
        assert 1 <= len(embedder.seen) <= 2
        assert made.rows(WAITING) == [(0,)]


@pytest.mark.parametrize("told", [["old.md", "new/old.md"], ["new/old.md", "old.md"], ["old.md"], None])
def test_moved_file_embeds_nothing(root: Path, index: Path, told: list[str] | None) -> None:
    """A note that moves keeps its vectors, whether its old name, its new one, both or nothing is told."""
    write(root, {"old.md": "The cistern overflows.", "new/other.md": "[[old]]"})
    embedder = HashEmbedder()
    with running(root, index, embedder, child=False) as made:
        embedder.seen.clear()
        (root / "old.md").rename(root / "new/old.md")
        made.look(*(told or ()), folders=[] if told and len(told) > 1 else [""])
        assert embedder.seen == []
        assert made.paths() == ["new/old.md", "new/other.md"]
        assert made.rows("SELECT n.path FROM links k JOIN notes n ON n.id = k.resolved") == [("new/old.md",)]
        assert made.rows(WAITING) == [(0,)]


def test_renamed_folder_embeds_nothing_and_links_follow(root: Path, index: Path) -> None:
    """All notes of a folder move at once."""
    write(root, {f"old/n{number}.md": f"note {number}" for number in range(5)} | {"top.md": "[[n3]] [x](old/n1.md)"})
    embedder = HashEmbedder()
    with running(root, index, embedder, child=False) as made:
        embedder.seen.clear()
        (root / "old").rename(root / "new")
        made.look(folders=["old", "new"])
        assert embedder.seen == []
        assert made.paths() == [f"new/n{number}.md" for number in range(5)] + ["top.md"]
        found = made.rows("SELECT k.target, n.path FROM links k JOIN notes n ON n.id = k.resolved")
        assert ("n3", "new/n3.md") in found


def test_deleted_file_and_folder_leave(root: Path, index: Path) -> None:
    """Links to what is gone lead nowhere."""
    write(root, {"a.md": "one", "sub/b.md": "two", "sub/deep/c.md": "three", "top.md": "[[a]] [[c]]"})
    with running(root, index, HashEmbedder(), child=False) as made:
        (root / "a.md").unlink()
        for path in ("sub/b.md", "sub/deep/c.md"):
            (root / path).unlink()
        (root / "sub/deep").rmdir()
        (root / "sub").rmdir()
        made.look("a.md", folders=["sub"])
        assert made.paths() == ["top.md"]
        assert made.rows("SELECT resolved FROM links") == [(None,), (None,)]
        assert made.rows("SELECT count(*) FROM vectors") == [(1,)]


def test_new_title_lets_the_old_vectors_answer_until_the_new_ones_are_there(root: Path, index: Path) -> None:
    """The chunks wait for new vectors, yet are found by the old ones meanwhile."""
    write(root, {"a.md": "---\ntitle: Before\n---\n\nThe cistern overflows."})
    embedder = HashEmbedder()
    with running(root, index, embedder, child=False) as made:
        embedder.may_go.clear()
        embedder.began.clear()
        write(root, {"a.md": "---\ntitle: After\n---\n\nThe cistern overflows."})
        made.indexer.submit(["a.md"])
        assert embedder.began.wait(PATIENCE)
        assert made.rows("SELECT title FROM notes") == [("After",)]
        assert made.rows("SELECT vector IS NOT NULL, stale FROM chunks") == [(1, 1)]
        embedder.may_go.set()
        made.settled()
        assert made.rows("SELECT vector IS NOT NULL, stale FROM chunks") == [(1, 0)]
        assert made.rows("SELECT count(*) FROM vectors") == [(1,)]


def test_text_that_cannot_be_embedded_fails_alone_until_retry(root: Path, index: Path) -> None:
    """The other chunks get their vectors, the error is told, and ``retry`` tries again."""
    write(root, {"bad.md": "poison here", "good.md": "all is well"})
    embedder = HashEmbedder("poison")
    with running(root, index, embedder, child=False) as made:
        state = "SELECT n.path, c.vector IS NOT NULL, c.failed FROM chunks c JOIN notes n ON n.id = c.note ORDER BY 1"
        assert made.rows(state) == [("bad.md", 0, 1), ("good.md", 1, 0)]
        assert made.indexer.error is not None
        assert "refused" in made.indexer.error
        assert made.rows("SELECT rowid FROM terms WHERE terms MATCH 'poison'") != []
        embedder.refused = ()
        made.indexer.retry()
        made.settled()
        assert made.rows(state) == [("bad.md", 1, 0), ("good.md", 1, 0)]
        assert made.indexer.error is None


def test_vector_that_the_store_refuses_fails_its_text_alone(
    root: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that makes no direction of one text does not keep the others from theirs."""
    write(root, {"bad.md": "poison here", "good.md": "all is well"})
    put = vectors.put

    def refusing(db: Connection, key: bytes, *embedded: bytes) -> int:
        if db.execute("SELECT 1 FROM chunks WHERE input_key = ? AND instr(text, 'poison')", (key,)).fetchone():
            raise ModelError("no direction")
        return put(db, key, *embedded)

    monkeypatch.setattr(vectors, "put", refusing)
    with running(root, index, HashEmbedder(), child=False) as made:
        assert made.rows("SELECT vector IS NOT NULL, failed FROM chunks ORDER BY failed") == [(1, 0), (0, 1)]
        assert made.indexer.error == "no direction"


def test_closing_in_the_middle_of_the_first_index_loses_nothing(root: Path, index: Path) -> None:
    """What was committed is not embedded again, and the next start goes on where this one stopped."""
    write(root, {f"n{number:03}.md": f"note {number}" for number in range(150)})
    embedder = HashEmbedder()
    started = threading.Event()
    seen: list[int] = []
    with running(root, index, embedder, settle=False, child=False) as made:
        made.indexer._changed = lambda: started.set() if made.indexer.counters.chunks_embedded else None
        assert started.wait(PATIENCE)
    seen.append(len(embedder.seen))
    again = HashEmbedder()
    with running(root, index, again, child=False) as made:
        assert made.rows(WAITING) == [(0,)]
        assert len(made.paths()) == 150
    assert 0 < seen[0] <= 150
    assert len(again.seen) < 150
    assert len(again.seen) + seen[0] <= 150 + 3, "more than the passages in work were embedded twice"


def test_root_that_vanishes_keeps_its_index_and_is_taken_up_when_it_returns(
    root: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drive that is taken out loses no note; nothing has to be told when it is back."""
    monkeypatch.setattr(pipeline, "_RETRY_SECONDS", (0.02, 0.02))
    write(root, {"a.md": "one", "b.md": "two"})
    with running(root, index, HashEmbedder(), child=False) as made:
        root.rename(root.with_name("away"))
        made.look("a.md")
        assert made.paths() == ["a.md", "b.md"]
        assert made.indexer.error is not None
        assert "is not there" in made.indexer.error
        write(root.with_name("away"), {"c.md": "three"})
        root.with_name("away").rename(root)
        until(lambda: made.indexer.error is None)
        assert made.paths() == ["a.md", "b.md", "c.md"]


def test_change_during_embedding_is_written_before_the_rest_is_embedded(root: Path, index: Path) -> None:
    """Words never wait for vectors."""
    write(root, {f"n{number:03}.md": f"note {number}" for number in range(60)})
    embedder = HashEmbedder()
    embedder.may_go.clear()
    with running(root, index, embedder, settle=False, child=False) as made:
        assert embedder.began.wait(PATIENCE)
        write(root, {"new.md": "the freshest words"})
        written = threading.Event()
        made.indexer._changed = lambda: written.set() if "new.md" in made.paths() else None
        made.indexer.submit(["new.md"])
        embedder.may_go.set()
        assert written.wait(PATIENCE)
        assert len(embedder.seen) < 60
        made.settled()
        assert made.rows(WAITING) == [(0,)]


def test_preferred_notes_are_embedded_first(root: Path, index: Path) -> None:
    """Open notes go before all others."""
    write(root, {f"n{number}.md": f"note {number}" for number in range(5)})
    embedder = HashEmbedder()
    with running(root, index, None, child=False) as made:
        made.indexer.prefer(["n3.md"])
        pool = EmbeddingPool(embedder, 1)
        made.indexer.attach(pool, embedder.spec)
        made.settled()
        pool.close()
    assert embedder.seen[0].endswith("note 3")


def test_other_rules_read_every_note_again(root: Path, index: Path) -> None:
    """Settings of the index change what is made of the same bytes; equal inputs keep their vectors."""
    write(root, {"a.md": "one", "b.txt": "two"})
    with running(root, index, HashEmbedder(), child=False):
        pass
    again = HashEmbedder()
    other = Settings(index=IndexSettings(extensions=(".md", ".txt")))
    with running(root, index, again, other, child=False) as made:
        assert made.paths() == ["a.md", "b.txt"]
        assert made.indexer.counters.files_read == 2
        assert len(again.seen) == 1


def test_changed_ignore_file_takes_notes_out_and_in(root: Path, index: Path) -> None:
    """The folder of an ignore file is walked again."""
    write(root, {"a.md": "one", "b.md": "two"})
    with running(root, index, None, child=False) as made:
        write(root, {".ignore": "b.md\n"})
        made.indexer._seen({str(root / ".ignore")})
        made.settled()
        assert made.paths() == ["a.md"]
        (root / ".ignore").unlink()
        made.indexer._seen({str(root / ".ignore")})
        made.settled()
        assert made.paths() == ["a.md", "b.md"]


def test_told_file_that_does_not_belong_is_not_indexed(root: Path, index: Path) -> None:
    """A client may tell of any path: hidden ones, ignored ones, impossible ones, ones outside."""
    write(root, {"a.md": "one", ".hidden/b.md": "two", "node_modules/c.md": "three", "d.txt": "four"})
    with running(root, index, None, child=False) as made:
        made.look(".hidden/b.md", "node_modules/c.md", "d.txt", "../e.md", "f\0.md", "g\udcff.md", folders=["h\udcff"])
        assert made.paths() == ["a.md"]
        assert made.indexer.error is None
        assert made.rows("SELECT * FROM skipped") == []


def test_folder_called_like_a_note_is_a_folder(root: Path, index: Path) -> None:
    """It is walked when it is told of as if it were a file, and leaves when it is gone."""
    write(root, {"a.md": "one"})
    with running(root, index, None, child=False) as made:
        write(root, {"sub.md/b.md": "two"})
        made.look("sub.md")
        assert made.paths() == ["a.md", "sub.md/b.md"]
        assert made.rows("SELECT * FROM skipped") == []
        (root / "sub.md/b.md").unlink()
        (root / "sub.md").rmdir()
        made.look("sub.md")
        assert made.paths() == ["a.md"]


KINDS: dict[str, Callable[[Path], object]] = {
    "note": lambda place: place.write_text("# A kiln\n\n[[b]]"),
    "folder": lambda place: write(place, {"in.md": "rooks", "deep/down.md": "rooks", "deep/x.png": "picture"}),
    "pipe": os.mkfifo,
    "socket": make_socket,
    "link": lambda place: place.symlink_to("b.md"),
    "link to a folder": lambda place: place.symlink_to("."),
    "nothing": lambda _place: None,
}


@pytest.mark.parametrize("told", ["as a file", "as a folder", "by the watcher"])
@pytest.mark.parametrize("path", ["a.md", "d/e/a.md", "d.md/a.md", "d/picture", "deep/er"])
def test_a_path_that_becomes_something_else_is_what_it_is_now(root: Path, index: Path, path: str, told: str) -> None:
    """Each kind after each other, at once: what was there is forgotten, and what is there is found."""
    write(root, {"b.md": "here [[a]]"})
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    by_watcher = told == "by the watcher"
    kinds = [kind for pair in permutations(KINDS, 2) for kind in pair] if not by_watcher else [*KINDS, *reversed(KINDS)]
    with running(root, index, None, watch=by_watcher, child=False) as made:
        for kind in kinds:
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
            KINDS[kind](place)
            scan = walk.walk(root, IndexSettings())
            expected = sorted(found.path for found in scan.notes), sorted(found.path for found in scan.attachments)
            if not by_watcher:
                made.look(*([path] if told == "as a file" else []), folders=[path] if told == "as a folder" else [])
                assert _held(made) == expected, kind
            until(partial(_holds, made, expected))
        assert made.rows("SELECT * FROM skipped") == []


def _holds(made: Running, expected: tuple[list[str], list[str]]) -> bool:
    return _held(made) == expected


def _held(made: Running) -> tuple[list[str], list[str]]:
    return made.paths(), [path for (path,) in made.rows("SELECT path FROM attachments ORDER BY path")]


def test_pipe_called_like_a_note_holds_nothing_up(root: Path, index: Path) -> None:
    """A pipe would be read for ever."""
    write(root, {"a.md": "one"})
    os.mkfifo(root / "pipe.md")
    with running(root, index, None) as made:
        made.look("pipe.md")
        assert made.paths() == ["a.md"]


def test_unreadable_folder_keeps_its_notes_until_it_can_be_read(
    root: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named, what the index knows of it stays, and the name goes when it is read again."""
    write(root, {"sub/a.md": "one", "b.md": "two"})
    with running(root, index, None, child=False) as made:
        scandir = os.scandir

        def closed(path: Path) -> "os._ScandirIterator[str]":
            if Path(path).name == "sub":
                raise PermissionError(13, "Permission denied")
            return scandir(str(path))

        with monkeypatch.context() as patched:
            patched.setattr(os, "scandir", closed)
            write(root, {"c.md": "three"})
            made.look("c.md", folders=["sub"])
        assert made.paths() == ["b.md", "c.md", "sub/a.md"]
        assert made.rows("SELECT * FROM skipped") == [("sub", "folder cannot be read (Permission denied)")]
        assert made.indexer.error is None
        made.look(folders=["sub"])
        assert made.rows("SELECT * FROM skipped") == []


def test_note_that_cannot_be_written_is_named_and_the_others_go_on(
    root: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that the store refuses leaves nothing half done."""
    write(root, {"a.md": "one", "b.md": "two"})
    put = notes.put

    def refusing(db: Connection, record: NoteRecord) -> notes.Written:
        done = put(db, record)
        if record.path == "a.md":
            raise ValueError("no such thing")
        return done

    monkeypatch.setattr(notes, "put", refusing)
    with running(root, index, None, child=False) as made:
        assert made.paths() == ["b.md"]
        assert made.rows("SELECT * FROM skipped") == [("a.md", "cannot be indexed (no such thing)")]
        assert made.rows("SELECT count(*) FROM chunks") == [(1,)]


def test_failed_write_is_made_up_for_without_a_new_change(
    root: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk that has room again: what could not be written is written soon after."""
    monkeypatch.setattr(pipeline, "_RETRY_SECONDS", (0.02, 0.02))
    write(root, {"a.md": "one"})
    with running(root, index, None, child=False) as made:
        put = notes.put
        full = True

        def failing(db: Connection, record: NoteRecord) -> notes.Written:
            if full:
                raise OSError(28, "No space left on device")
            return put(db, record)

        monkeypatch.setattr(notes, "put", failing)
        write(root, {"b.md": "two"})
        made.look("b.md")
        assert made.paths() == ["a.md"]
        assert made.indexer.error is not None
        full = False
        until(lambda: made.indexer.error is None)
        assert made.paths() == ["a.md", "b.md"]


def test_index_that_cannot_be_written_says_so_and_ends(root: Path, index: Path) -> None:
    """Waiting for such an indexer ends too."""
    opened = Index(index)
    opened.writer.execute("DROP TABLE meta")
    indexer = Indexer(opened, root, Settings(), lambda: None, watch=False)
    indexer.start()
    assert indexer.wait(PATIENCE)
    until(lambda: indexer.error is not None)
    assert str(indexer.error).startswith("the index cannot be written")
    indexer.close()
    opened.close()


def test_watcher_brings_every_change_of_a_busy_time(root: Path, index: Path) -> None:
    """Folders that appear while other files change: no change is lost when the watch is armed anew."""
    with running(root, index, None, watch=True) as made:
        for number in range(40):
            write(root, {f"d{number}/n.md": f"first {number}", f"top{number}.md": f"note {number}"})
            if number:
                write(root, {f"d{number - 1}/late.md": f"late {number}"})
            threading.Event().wait(0.03)
        everything = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
        until(lambda: made.paths() == everything)
        write(root, {"top3.md": "changed words"})
        until(lambda: made.rows("SELECT 1 FROM terms WHERE terms MATCH 'changed'") != [])
        (root / "d4").rename(root / "e4")
        until(lambda: "e4/n.md" in made.paths() and "d4/n.md" not in made.paths())


LEADS_TO = (
    "SELECT target, coalesce(n.path, k.attachment) FROM links k LEFT JOIN notes n ON n.id = k.resolved ORDER BY 1"
)


def test_attachments_come_and_go(root: Path, index: Path) -> None:
    """By name, with a folder, and while nothing runs; their content is not read."""
    write(root, {"a.md": "![[x.png]] ![[y.pdf]]", "x.png": "1", "sub/z.csv": ""})
    with running(root, index, None, child=False) as made:
        assert made.rows(LEADS_TO) == [("x.png", "x.png"), ("y.pdf", None)]
        write(root, {"sub/y.pdf": "12"})
        made.indexer._seen({str(root / "sub/y.pdf")})
        made.settled()
        assert made.rows(LEADS_TO) == [("x.png", "x.png"), ("y.pdf", "sub/y.pdf")]
        assert made.rows("SELECT path, size FROM attachments ORDER BY path") == [
            ("sub/y.pdf", 2), ("sub/z.csv", 0), ("x.png", 1),
        ]  # fmt: skip
        (root / "x.png").unlink()
        made.look("x.png")
        (root / "sub").rename(root / "new")
        made.look(folders=["sub", "new"])
        assert made.rows(LEADS_TO) == [("x.png", None), ("y.pdf", "new/y.pdf")]
        assert made.indexer.counters.files_read == 1
    (root / "new/y.pdf").unlink()
    write(root, {"x.png": "1"})
    with running(root, index, None, child=False) as made:
        assert made.rows(LEADS_TO) == [("x.png", "x.png"), ("y.pdf", None)]
        assert made.indexer.counters.files_read == 0


def test_links_are_read_in_the_dialect_of_the_vault(root: Path, index: Path) -> None:
    """As its marker files say, as set, and anew when that changes; no note is read for it."""
    write(root, {"a.b.md": "", "c.md": "", "x.md": "[[c|a.b]]", "dendron.yml": ""})
    meant = "SELECT n.path FROM links k JOIN notes n ON n.id = k.resolved"
    with running(root, index, None, child=False) as made:
        assert made.rows(meant) == [("a.b.md",)]
    with running(root, index, None, Settings(links=LinkSettings("obsidian")), child=False) as made:
        assert made.rows(meant) == [("c.md",)]
        assert made.indexer.counters.files_read == 0


def test_every_commit_holds_what_its_links_mean(root: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An indexer that ends in the middle leaves no link behind that the next start would not look at."""
    monkeypatch.setattr(pipeline, "_FILES_A_COMMIT", 1)
    write(root, {f"{name}.md": "[[a]] [[b]] [[c]]" for name in "abc"})
    seen: list[list[tuple[int, int]]] = []
    with running(root, index, None, child=False, settle=False) as made:
        count = "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM links WHERE resolved IS NOT NULL)"
        made.indexer._changed = lambda: seen.append(made.rows(count))
        made.look(folders=[""])
    assert all(resolved == notes_ * notes_ for rows in seen for notes_, resolved in rows)
