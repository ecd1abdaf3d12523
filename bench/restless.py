"""A user who never rests: random edits of notes, in the editor and beside it, and random questions about them."""

import random
import re
import shutil
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import generated
from client import Arrival, Client, ServerError
from queries import note_paths

MODES = ("hybrid", "lexical", "semantic")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# More questions than these are never under way at once.
_UNDER_WAY = 12
_BURST = 60
_PATIENCE = 60.0

# Errors that a server may answer with while it is made anew or asked for something else, by what they say.
_EXPECTED = ("superseded", "cancel", "being rebuilt", "being opened", "being made", "is making this index")

SETTINGS: Sequence[dict[str, object]] = (
    {},
    {"search": {"limit": 25}, "hover": {"maxLines": 5}},
    {"index": {"exclude": ["glacier/"]}},
    {"links": {"dialect": "markdown"}},
    {"embedding": {"threads": 1}},
)
"""Settings to choose from; not the model, which comes and goes with a hundred MiB that would hide a leak."""


class Editor(Client):
    """A server that counts how often each request was answered, and has settings to ask for."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self.times_answered: Counter[int] = Counter()
        super().__init__(command, environment)

    def end(self) -> None:
        """Say farewell, as an editor does."""
        self.request("shutdown", None)
        self.notify("exit", None)
        self._process.wait(timeout=10)

    def kill(self) -> None:
        """End the process without a word."""
        self._process.kill()
        self._process.wait()

    def __exit__(self, *problem: object) -> None:
        ended = self._process.poll() is not None
        super().__exit__(*((InterruptedError, InterruptedError(), None) if ended else problem))  # type: ignore[arg-type]  # what Python gives

    def _keep(self, request_id: int, answer: Arrival) -> None:
        self.times_answered[request_id] += 1
        super()._keep(request_id, answer)


@dataclass(slots=True)
class Tally:
    """What was done and what came of it: ``searches`` in seconds, ``wrong`` in sentences."""

    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    searches: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    questions: int = 0
    lost_with_a_kill: int = 0


class Restless:
    """Works on one vault with one editor, which may be changed for another one."""

    def __init__(self, vault: Path, chance: random.Random) -> None:
        self.tally = Tally()
        self._vault = vault
        self._chance = chance
        self._editor: Editor | None = None
        self._buffers: dict[Path, tuple[int, str]] = {}
        self._under_way: OrderedDict[int, tuple[str, float]] = OrderedDict()
        self._asked = 0

    @property
    def editor(self) -> Editor:
        """The editor in use."""
        assert self._editor is not None  # noqa: S101 - nothing is done before there is one
        return self._editor

    def use(self, editor: Editor) -> None:
        """Go on with another editor, in which the same notes are open; the former one has gone."""
        if self._editor is not None:
            self.account()
        self._editor = editor
        self.tally.lost_with_a_kill += len(self._under_way)
        self._under_way.clear()
        for path, (version, text) in self._buffers.items():
            self._tell_opened(path, version, text)

    def act(self) -> None:
        """Do something."""
        works, weights = zip(*_WORKS, strict=True)
        work: Callable[[Restless], None] = self._chance.choices(works, weights)[0]
        work(self)
        self.tally.done[work.__name__.replace("_", " ")] += 1
        while len(self._under_way) > _UNDER_WAY:
            self._hear()

    def rest(self) -> None:
        """Close all notes without saving, go back to the settings of the beginning, and hear all answers."""
        for path in list(self._buffers):
            self._close(path)
        self._set(SETTINGS[0])
        while self._under_way:
            self._hear()

    def account(self) -> None:
        """Judge how often each request of the editor in use was answered."""
        for request_id, times in self.editor.times_answered.items():
            if times != 1:
                self.tally.wrong.append(f"request {request_id} was answered {times} times")

    # -- on the disk

    def create(self) -> None:
        """Write a new note."""
        self._write(self._vault / f"{generated.name(self._chance.randrange(10_000))}.md")

    def edit(self) -> None:
        """Add a paragraph to a note, as another program does."""
        for note in self._some_notes(1):
            text = note.read_bytes().decode("utf-8", "replace")
            note.write_bytes(f"{text}\n\n{generated.prose(self._chance)}\n".encode())

    def move(self) -> None:
        """Give a note another name."""
        for note in self._some_notes(1):
            note.rename(note.with_name(f"{note.stem[:40]} {self._chance.randrange(100)}{note.suffix}"))

    def delete(self) -> None:
        """Remove a note."""
        for note in self._some_notes(1):
            note.unlink()

    def move_folder(self) -> None:
        """Give a folder another name."""
        for note in self._some_notes(1):
            if note.parent != self._vault:
                target = self._vault / f"{note.parent.name.split(' ')[0]} {self._chance.randrange(1000)}"
                if not target.exists():
                    note.parent.rename(target)

    def delete_folder(self) -> None:
        """Remove a small folder with its notes."""
        for note in self._some_notes(1):
            # Twenty notes are a folder of a vault that has hundreds.
            if note.parent != self._vault and len(note_paths(note.parent)) <= 20:
                shutil.rmtree(note.parent)

    def switch_branches(self) -> None:
        """Change, remove and add many files at once, as git does."""
        for number, note in enumerate(self._some_notes(_BURST)):
            if number % 3:
                self._write(note)
            else:
                note.unlink()
                self.create()

    def _write(self, note: Path) -> None:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(generated.text(self._chance.randrange(10_000), self._chance), encoding="utf-8")

    def _some_notes(self, number: int) -> list[Path]:
        notes = note_paths(self._vault)
        while len(notes) < 100:
            self.create()
            notes = note_paths(self._vault)
        return self._chance.sample(notes, number)

    # -- in the editor

    def open(self) -> None:
        """Open a note."""
        for note in self._some_notes(1):
            if note not in self._buffers and len(self._buffers) < 8:
                self._buffers[note] = 0, note.read_bytes().decode("utf-8", "replace")
                self._tell_opened(note, *self._buffers[note])

    def type(self) -> None:
        """Insert or remove a line of an open note."""
        for path in self._some_open():
            version, text = self._buffers[path]
            lines = _LINES.findall(text)
            at = self._chance.randrange(len(lines) + 1)
            removed = self._chance.random() < 0.3 and at < len(lines)
            new = "" if removed else f"{generated.prose(self._chance, 1)}\n\n"
            if at == len(lines) and lines and not lines[-1].endswith(("\n", "\r")):
                continue  # a place after the last line is one only if that has an end
            span = {"start": {"line": at, "character": 0}, "end": {"line": at + removed, "character": 0}}
            self._buffers[path] = version + 1, "".join((*lines[:at], new, *lines[at + removed :]))
            self.editor.notify(
                "textDocument/didChange",
                {
                    "textDocument": {"uri": path.as_uri(), "version": version + 1},
                    "contentChanges": [{"range": span, "text": new}],
                },
            )

    def save(self) -> None:
        """Save an open note."""
        for path in self._some_open():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._buffers[path][1].encode())
            self.editor.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})

    def close_unsaved(self) -> None:
        """Close a note, losing what was typed."""
        for path in self._some_open():
            self._close(path)

    def change_settings(self) -> None:
        """Choose other settings."""
        self._set(self._chance.choice(SETTINGS))

    def _set(self, settings: dict[str, object]) -> None:
        self.editor.settings = settings
        self.editor.notify("workspace/didChangeConfiguration", {"settings": None})

    def _close(self, path: Path) -> None:
        del self._buffers[path]
        self.editor.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def _tell_opened(self, path: Path, version: int, text: str) -> None:
        document = {"uri": path.as_uri(), "languageId": "markdown", "version": version, "text": text}
        self.editor.notify("textDocument/didOpen", {"textDocument": document})

    def _some_open(self) -> list[Path]:
        return self._chance.sample(list(self._buffers), min(1, len(self._buffers)))

    # -- questions

    def search(self) -> None:
        """Ask one question."""
        params: dict[str, object] = {"query": self._query(), "mode": self._chance.choice(MODES)}
        for path in self._some_open():
            if self._chance.random() < 0.3:
                params["near"] = path.as_uri()
        self._ask("synapse/search", params)

    def search_as_typed(self) -> None:
        """Search at every third key without waiting."""
        query, session = self._query(), str(self._asked)
        for length in range(3, len(query), 3):
            self._ask("synapse/search", {"query": query[:length], "session": session})

    def cancel_a_search(self) -> None:
        """Ask and take it back."""
        request_id = self._ask("synapse/search", {"query": self._query()})
        self.editor.notify("$/cancelRequest", {"id": request_id})

    def ask_for_symbols(self) -> None:
        """Type the beginning of a name."""
        self._ask("workspace/symbol", {"query": self._query().split()[0][: self._chance.randrange(1, 9)]})

    def ask_about_a_link(self) -> None:
        """Hover over a link, follow it, and ask who else links there."""
        for path in self._some_open():
            lines = _LINES.findall(self._buffers[path][1])
            places = [(number, line.index("[[") + 2) for number, line in enumerate(lines) if "[[" in line]
            if places:
                line, character = self._chance.choice(places)
                at = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}
                self._ask("textDocument/hover", at)
                self._ask("textDocument/definition", at)
                self._ask("textDocument/references", {**at, "context": {"includeDeclaration": True}})

    def ask_for_status(self) -> None:
        """Ask how the index does."""
        self._ask("synapse/status", {})

    def reindex(self) -> None:
        """Have all files looked at."""
        self._ask("workspace/executeCommand", {"command": "synapse.reindex"})

    def rebuild(self) -> None:
        """Have the index made anew."""
        self._ask("workspace/executeCommand", {"command": "synapse.rebuildIndex"})

    def _query(self) -> str:
        return self._chance.choice(generated.QUERIES)

    def _ask(self, method: str, params: Mapping[str, object]) -> int:
        self._asked += 1
        self.tally.questions += 1
        request_id = self.editor.send(method, params)
        self._under_way[request_id] = method, time.perf_counter()
        return request_id

    def _hear(self) -> None:
        """Wait for the answer to the oldest question."""
        request_id, (method, sent) = self._under_way.popitem(last=False)
        try:
            answer = self.editor.answer(request_id, _PATIENCE)
        except ServerError as error:
            self.tally.wrong.append(f"{method}: {error}")
            return
        if method == "synapse/search" and not answer.failed:
            self.tally.searches.append(answer.at - sent)
        if not answer.failed:
            return
        said = str(answer.value.get("message", ""))
        expected = next((words for words in _EXPECTED if words in said.lower()), None)
        if expected is None and not (method == "workspace/executeCommand" and "another" in said):
            self.tally.wrong.append(f"{method}: {said}")
        self.tally.refused[expected or "another process writes"] += 1


_WORKS: Sequence[tuple[Callable[[Restless], None], float]] = (
    (Restless.create, 4), (Restless.edit, 10), (Restless.move, 3), (Restless.delete, 4),
    (Restless.move_folder, 0.5), (Restless.delete_folder, 0.3), (Restless.switch_branches, 0.3),
    (Restless.open, 4), (Restless.type, 25), (Restless.save, 5), (Restless.close_unsaved, 2),
    (Restless.change_settings, 0.4), (Restless.search, 15), (Restless.search_as_typed, 4),
    (Restless.cancel_a_search, 3), (Restless.ask_for_symbols, 5), (Restless.ask_about_a_link, 6),
    (Restless.ask_for_status, 3), (Restless.reindex, 0.3), (Restless.rebuild, 0.15),
)  # fmt: skip
"""What there is to do, and how often beside the rest."""
