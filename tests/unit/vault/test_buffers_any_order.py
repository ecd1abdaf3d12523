"""Whatever happens to files and open notes, answers are those of the text on screen, else of the text on disk."""

import itertools
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from synapse_ls.core.config import EmbeddingSettings, Settings
from synapse_ls.core.model import Hit, SearchRequest
from synapse_ls.core.text import Range
from synapse_ls.features.symbols import workspace_symbols
from synapse_ls.indexer.record import note_record
from synapse_ls.search.searcher import Semantic, search
from synapse_ls.store import database, notes
from synapse_ls.vault.encoder import Encoder
from synapse_ls.vault.vault import Vault

PATHS = st.sampled_from(["one.md", "Two.md", "a/one.md"])
TEXTS = st.lists(
    st.sampled_from(
        ["the cistern overflows", "rooks nest above", "# Heading", "## Under it #tag", "a ^block", "žluť 🐈 kočka"]
    ),
    max_size=5,
).map("\n\n".join)  # fmt: skip
QUERIES = ("cistern", "rooks nest", "heading", "#tag", "zlut", "kočka 🐈", "one", "cistern -rooks")
MANY = 100


class Screen(RuleBasedStateMachine):
    """A vault without a model, files, and notes open in an editor."""

    @initialize()
    def start(self) -> None:
        """Begin with an empty vault."""
        self.place = Path(tempfile.mkdtemp())
        self.root = self.place / "vault"
        self.root.mkdir()
        self.cache = os.environ.get("SYNAPSE_CACHE_DIR")
        os.environ["SYNAPSE_CACHE_DIR"] = str(self.place / "cache")
        self.open: dict[str, str] = {}
        self.versions = itertools.count(1)
        self.ticks = itertools.count(1)
        self.begin()

    def begin(self) -> None:
        """Start a server and open again what is open."""
        encoder = Encoder(EmbeddingSettings(model="none"))
        self.vault = Vault(self.root, Settings(), encoder, watch=False)
        self.vault.open()
        self.vault.wait()
        for path, text in self.open.items():
            self.vault.type(path, text, next(self.versions))

    @rule(path=PATHS, text=TEXTS)
    def write(self, path: str, text: str) -> None:
        """Another program writes a file, open or not."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        # The line ends make the size tell of every edit, whatever the clock's steps.
        file.write_text(text + "\n" * next(self.ticks), "utf-8", newline="")
        self.look(path)

    @rule(path=PATHS)
    def delete(self, path: str) -> None:
        """Another program removes a file, open or not."""
        (self.root / path).unlink(missing_ok=True)
        self.look(path)

    @rule(source=PATHS, to=PATHS)
    def move(self, source: str, to: str) -> None:
        """Another program renames a file, over another one too."""
        if (self.root / source).exists() and source != to:
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.root / source).replace(self.root / to)
            self.look(source, to)

    @rule(path=PATHS)
    def show(self, path: str) -> None:
        """Open a file as it is, or a new note."""
        if path not in self.open:
            file = self.root / path
            self.typed(path, file.read_bytes().decode() if file.exists() else "")

    @rule(path=PATHS, text=TEXTS)
    def type(self, path: str, text: str) -> None:
        """Open a note, if it is not open, and type into it."""
        self.typed(path, text)

    @rule(path=PATHS)
    def save(self, path: str) -> None:
        """Save an open note."""
        if path in self.open:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(self.open[path].encode())
            self.look(path)

    @rule(path=PATHS)
    def close(self, path: str) -> None:
        """Close a note, saved or not."""
        if self.open.pop(path, None) is not None:
            self.vault.let_go(path)

    @rule()
    def restart(self) -> None:
        """The server ends and another one starts; the editor opens its notes again."""
        self.vault.close()
        self.begin()

    @invariant()
    def answers_are_those_of_what_is_seen(self) -> None:
        """Which notes are found, with which passages and titles, and which names there are."""
        if not hasattr(self, "vault"):
            return
        seen = {p.relative_to(self.root).as_posix(): p.read_bytes() for p in self.root.rglob("*.md")}
        seen |= {path: text.encode() for path, text in self.open.items()}
        wanted = database.memory()
        for path, data in seen.items():
            notes.put(wanted, note_record(path, data, 0, 1 << 20))
        for query in QUERIES:
            request = SearchRequest(query, limit=MANY, mode="lexical")
            found = self.vault.search(request).hits
            assert shown(found) == shown(search(wanted, request, Semantic()).hits), query
        with self.vault.snapshot() as now:
            names = {(s.name, s.kind, s.path, s.range) for s in symbols(now.db, now.buffers)}
        assert names == {(s.name, s.kind, s.path, s.range) for s in symbols(wanted, None)}
        wanted.close()

    def typed(self, path: str, text: str) -> None:
        """Let the text of an open note be known."""
        self.open[path] = text
        self.vault.type(path, text, next(self.versions))

    def look(self, *paths: str) -> None:
        """Have files looked at."""
        self.vault.submit(files=paths)
        self.vault.wait()

    def teardown(self) -> None:
        """End and tidy up."""
        if hasattr(self, "vault"):
            self.vault.close()
            shutil.rmtree(self.place)
            if self.cache is None:
                os.environ.pop("SYNAPSE_CACHE_DIR", None)
            else:
                os.environ["SYNAPSE_CACHE_DIR"] = self.cache


def shown(hits: tuple[Hit, ...]) -> set[tuple[str, str, Range, str]]:
    """Return what a person sees of hits, order aside: rarity is the disk's."""
    return {(hit.path, hit.title, hit.range, hit.snippet.text) for hit in hits}


def symbols(db: database.Connection, buffers: database.Connection | None) -> list:  # type: ignore[type-arg]  # of symbols
    """Return the names with an o or an i."""
    nothing = search(database.memory(), SearchRequest("nothing"), Semantic())
    return [
        symbol
        for letter in "oe"
        for symbol in workspace_symbols(db, letter, lambda _: nothing, MANY * 10, buffers=buffers)
    ]


Screen.TestCase.settings = settings(
    max_examples=20, stateful_step_count=16, deadline=None, suppress_health_check=list(HealthCheck)
)
TestScreen = Screen.TestCase
