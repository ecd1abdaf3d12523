"""Whatever happens to the notes, the processes, the model and the disk: the answers are those of a fresh index."""

import itertools
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from synapse_ls.vault import keeper, location
from synapse_ls.vault.vault import Vault
from tests.support.disk import failing_disk
from tests.support.indexing import HashEmbedder, write
from tests.support.vaults import LARGE, Hashed, answers, closed, opened, settled, until

NAMES = st.sampled_from(["cistern.md", "rooks.md", "deep/valve.md", "deep/er/new.md"])
BODIES = st.lists(
    st.sampled_from(
        ["the cistern overflows at night", "rooks nest above", "they carry twigs all of March", "turn it clockwise",
         "see [[rooks]] and [[valve]]", "# Heading", "#birds", "nothing much"]
    ),
    max_size=4,
)  # fmt: skip


class Life(RuleBasedStateMachine):
    """A vault with one server, at times a second one, at times none."""

    @initialize()
    def start(self) -> None:
        """Begin with an empty vault and one server."""
        self.place = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.patch.setenv("SYNAPSE_CACHE_DIR", str(self.place / "cache"))
        self.patch.setattr(keeper, "_TAKEOVER_SECONDS", 0.02)
        self.patch.setattr(keeper, "_DISK_SECONDS", 0.05)
        self.root = self.place / "vault"
        self.root.mkdir()
        self.context = failing_disk()
        self.disk = self.context.__enter__()
        self.embedder = HashEmbedder()
        self.ticks = itertools.count(1)
        self.servers: list[Vault] = [opened(self.root, self.embedder, watch=True)]

    @rule(path=NAMES, body=BODIES)
    def edit(self, path: str, body: list[str]) -> None:
        """Write a note."""
        write(self.root, {path: "\n\n".join(body) + "\n" * next(self.ticks)})
        self.tell(path)

    @rule(path=NAMES)
    def delete(self, path: str) -> None:
        """Remove a note."""
        (self.root / path).unlink(missing_ok=True)
        self.tell(path)

    @precondition(lambda self: len(self.servers) < 2)
    @rule()
    def another_server(self) -> None:
        """Begin a server, the first or a second one."""
        self.servers.append(opened(self.root, self.embedder, watch=True))

    @precondition(lambda self: self.servers)
    @rule(which=st.integers(0, 1))
    def end(self, which: int) -> None:
        """End a server in good order."""
        closed(self.servers.pop(min(which, len(self.servers) - 1)))

    @precondition(lambda self: self.servers)
    @rule(writes=st.integers(0, 12))
    def kill(self, writes: int) -> None:
        """End all servers after so many more writes, with the files as they are at that moment."""
        self.disk.fails_at = self.disk.written + writes
        write(self.root, {"last.md": "written at the last moment" + "\n" * next(self.ticks)})
        self.tell("last.md")
        for server in self.servers:
            server.wait(0.05)
            closed(server)
        self.servers = []
        self.disk.fails_at = None

    @precondition(lambda self: self.servers)
    @rule()
    def full_disk_for_a_while(self) -> None:
        """Let the disk fail during one edit."""
        self.disk.fails_at = 0
        write(self.root, {"full.md": "the disk is full of rooks" + "\n" * next(self.ticks)})
        self.tell("full.md")
        for server in self.servers:
            settled(server)
        self.disk.fails_at = None

    @precondition(lambda self: self.servers)
    @rule()
    def another_model(self) -> None:
        """Use the other model from now on, in every server."""
        spec = HashEmbedder().spec if self.embedder.spec is LARGE else LARGE
        self.embedder = HashEmbedder(spec=spec)
        for server in self.servers:
            former = server._encoder
            server.use(Hashed(self.embedder))
            former.close()

    @precondition(lambda self: self.servers)
    @rule()
    def rebuild(self) -> None:
        """Make the index anew."""
        for server in self.servers:
            if not server.read_only:
                server.rebuild()

    @precondition(lambda self: not self.servers)
    @rule(part=st.floats(0, 1))
    def damage(self, part: float) -> None:
        """Cut the index file, wherever."""
        path = location.current_index(location.index_folder(self.root))
        if path is not None and path.exists():
            os.truncate(path, int(path.stat().st_size * part))

    @invariant()
    def answers_are_those_of_a_fresh_index(self) -> None:
        """In every server, soon."""
        if not hasattr(self, "servers"):
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SYNAPSE_CACHE_DIR", str(self.place / "fresh"))
            fresh = opened(self.root, HashEmbedder(spec=self.embedder.spec))
            settled(fresh)
            wanted = answers(fresh)
            closed(fresh)
            shutil.rmtree(self.place / "fresh")
        for server in self.servers:
            until(
                lambda server=server: server.wait(1) and server.status().error is None and self.found(server) == wanted
            )  # type: ignore[misc]  # bound to this round

    def found(self, server: Vault) -> object:
        """Return a server's answers, or the error of one that opens its index at this moment."""
        try:
            return answers(server)
        except Exception as error:  # noqa: BLE001 - looked at again
            return str(error)

    def tell(self, path: str) -> None:
        """Tell the servers of a change, as an editor does."""
        for server in self.servers:
            server.submit([path])

    def teardown(self) -> None:
        """End and tidy up."""
        if hasattr(self, "servers"):
            self.disk.fails_at = None
            for server in self.servers:
                closed(server)
            self.context.__exit__(None, None, None)
            self.patch.undo()
            shutil.rmtree(self.place)


Life.TestCase.settings = settings(
    max_examples=12, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLife = Life.TestCase
