"""What a client says of the settings, in whichever order, late or not at all."""

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from synapse_ls.core.config import EmbeddingSettings, HoverSettings, SearchSettings, Settings
from synapse_ls.lsp.folders import Folder
from synapse_ls.lsp.settings import Configuration, Layers, effective

ONE, TWO = "file:///one", "file:///two"
BAD_LIMIT = "search.limit must be a whole number from 1 to 100, not 'many'; it is left out"


class Clock:
    """The event loop and its one timer."""

    def __init__(self) -> None:
        self.due: Callable[[], None] | None = None

    def call_later(self, seconds: float, work: Callable[..., None], *arguments: object) -> "Clock":
        """Set the timer."""
        assert 0 < seconds <= 1
        assert self.due is None
        self.due = lambda: work(*arguments)
        return self

    def cancel(self) -> None:
        """Stop the timer."""
        self.due = None

    def pass_by(self) -> None:
        """Let the time be over."""
        due, self.due = self.due, None
        assert due is not None
        due()


class Connection:
    """As much of a session and of its opener as settings have to do with."""

    def __init__(self, *, asks: bool = True, registers: bool = False) -> None:
        changes = lsp.DidChangeConfigurationClientCapabilities(dynamic_registration=registers)
        workspace = lsp.WorkspaceClientCapabilities(configuration=asks, did_change_configuration=changes)
        self.capabilities = lsp.ClientCapabilities(workspace=workspace)
        self.loop = Clock()
        self.folders = {uri: Folder(uri, Path(uri)) for uri in (ONE, TWO)}
        self.shown: list[str] = []
        self.registered: list[lsp.Registration] = []
        self.questions: list[tuple[list[str | None], Future[Any]]] = []
        self.opened: list[str] = []
        self.configured = 0
        self.settings = Configuration(self, self, Settings())  # type: ignore[arg-type]  # as much of both as is used

    def show(self, sentence: str) -> None:
        """Note what the user is shown."""
        self.shown.append(sentence)

    def request(self, method: str, params: Any) -> "Future[Any]":  # noqa: ANN401 - as the session
        """Note what the client is asked."""
        answer: Future[Any] = Future()
        if method == lsp.CLIENT_REGISTER_CAPABILITY:
            self.registered += params.registrations
        else:
            assert method == lsp.WORKSPACE_CONFIGURATION
            assert {item.section for item in params.items} == {"synapse"}
            self.questions.append(([item.scope_uri for item in params.items], answer))
        return answer

    def open(self, folder: Folder) -> None:
        """Note the opening of a vault, by its settings' number of hits."""
        self.opened.append(f"{folder.uri} {self.settings.of(folder.uri).search.limit}")

    def configure(self) -> None:
        """Note a change."""
        self.configured += 1

    def start(self, options: object = None) -> "Connection":
        """Begin the connection."""
        self.settings.begin(options)
        self.settings.start(self.folders.values())
        return self

    def answer(self, *parts: object, question: int = -1) -> None:
        """Answer a question."""
        self.questions[question][1].set_result(parts)


def test_each_layer_lies_over_those_before_it() -> None:
    """The options, the editor's settings, a folder's own."""
    now = effective(
        Layers(
            Settings(hover=HoverSettings(7)),
            {"synapse": {"search": {"limit": 1}, "rerank.topK": 1, "links": {"dialect": "zk"}}},
            {"search": {"limit": 2}, "rerank": {"topK": 2}},
            {ONE: {"search": {"limit": 3}}},
        )
    )
    assert now.warnings == ()
    assert now.shared.hover.max_lines == 7
    assert [(each.search.limit, each.rerank.top_k, each.links.dialect) for each in (now.shared, now.folders[ONE])] == [
        (2, 2, "zk"),
        (3, 2, "zk"),
    ]


@pytest.mark.parametrize(
    ("own", "folders", "warnings"),
    [
        ({}, "bundled", 0),
        (None, None, 0),
        ({"embedding.model": "mine"}, "mine", 0),
        ({"embedding.model": 3}, 3, 1),
        ({"embedding.model": "mine"}, None, 0),
        ({}, "evil", 1),
        ({"embedding.model": "mine"}, "evil", 1),
        (3, "evil", 2),
    ],
)
def test_a_folder_chooses_no_model(own: object, folders: object, warnings: int) -> None:
    """What repeats the user's own value says nothing; any other is told once, however many folders have it."""
    layers = {uri: {"embedding": {"model": folders}, "search.limit": 5} for uri in (ONE, TWO)}
    now = effective(Layers(Settings(), None, own, layers))
    model = own["embedding.model"] if isinstance(own, dict) and own.get("embedding.model") == "mine" else "bundled"
    assert now.folders[ONE] == Settings(embedding=EmbeddingSettings(model), search=SearchSettings(5))
    assert len(now.warnings) == warnings


def test_a_wrong_value_is_told_once_for_each_source() -> None:
    """The client repeats it for each folder."""
    wrong = {"search": {"limit": "many"}}
    now = effective(Layers(Settings(), wrong, wrong, {ONE: wrong, TWO: wrong}))
    assert now.warnings == (f"initializationOptions: {BAD_LIMIT}", f"workspace/configuration: {BAD_LIMIT}")


def test_vaults_are_opened_with_the_client_s_answer() -> None:
    """Each folder is asked for beside what holds for all."""
    now = Connection().start({"search.limit": 3})
    assert now.opened == []
    ((asked, _),) = now.questions
    assert asked == [None, ONE, TWO]
    now.answer({"search": {"limit": 4}}, None, {"search": {"limit": 5}})
    assert now.opened == [f"{ONE} 4", f"{TWO} 5"]
    assert now.settings.shared.search.limit == 4
    assert now.loop.due is None
    assert now.shown == []


def test_a_client_that_cannot_be_asked_is_not_asked() -> None:
    """The vaults are opened at once."""
    now = Connection(asks=False).start({"search.limit": 3})
    assert (now.opened, now.questions) == ([f"{ONE} 3", f"{TWO} 3"], [])


def test_a_late_answer_counts_when_it_comes() -> None:
    """The vaults are opened after a second without it, once."""
    now = Connection().start({"search.limit": 3})
    now.loop.pass_by()
    assert now.opened == [f"{ONE} 3", f"{TWO} 3"]
    assert now.configured == 0
    now.answer({"search": {"limit": 4}})
    assert (len(now.opened), now.configured, now.settings.of(ONE).search.limit) == (2, 1, 4)


@pytest.mark.parametrize("result", [None, {}, 3, "x", [], [None], [None, None, None]])
def test_an_answer_that_says_nothing_leaves_the_options_in_place(result: object) -> None:
    """And is not waited for any longer."""
    now = Connection().start({"search.limit": 3})
    now.questions[0][1].set_result(result)
    assert now.opened == [f"{ONE} 3", f"{TWO} 3"]
    assert now.shown == []


@pytest.mark.parametrize("part", [3, "x", [1], True])
def test_settings_that_are_no_table_are_told_once(part: object) -> None:
    """Whether for all or for one folder."""
    now = Connection().start({"search.limit": 3})
    now.answer(part, part, part)
    assert now.opened == [f"{ONE} 3", f"{TWO} 3"]
    assert now.shown == [f"workspace/configuration: settings must be a table, not {part!r}; they are left out"]


def test_an_error_in_place_of_an_answer_changes_nothing() -> None:
    """What was answered before still holds."""
    now = Connection().start()
    now.answer({"search.limit": 4})
    now.settings.change(None)
    now.questions[-1][1].set_exception(ValueError("no"))
    assert now.settings.shared.search.limit == 4
    assert (now.configured, now.shown) == (1, [])


def test_a_burst_of_changes_is_one_more_question() -> None:
    """Those that come while an answer is awaited; the last state is asked for."""
    now = Connection().start()
    for _ in range(100):
        now.settings.change({"synapse": {"search": {"limit": 9}}})
    assert len(now.questions) == 1
    now.answer({"search.limit": 4})
    assert len(now.questions) == 2
    now.answer({"search.limit": 5})
    assert (len(now.questions), now.settings.shared.search.limit) == (2, 5)


def test_a_client_that_never_answers_is_asked_again_after_a_change() -> None:
    """An answer to the later question is not undone by one to the earlier."""
    now = Connection().start()
    now.settings.change(None)
    now.loop.pass_by()
    assert len(now.questions) == 2
    now.answer({"search.limit": 5})
    now.answer({"search.limit": 4}, question=0)
    assert now.settings.shared.search.limit == 5
    assert now.loop.due is None


def test_a_key_that_is_taken_away_gives_way_to_the_one_below() -> None:
    """The options, then the default."""
    now = Connection().start({"search.limit": 3})
    now.answer({"search.limit": 4, "hover.maxLines": 4}, {"search.limit": 5})
    now.settings.change(None)
    now.answer({})
    assert now.settings.of(ONE) == Settings(search=SearchSettings(3))


@pytest.mark.parametrize("values", [{"synapse": {"search": {"limit": 4}}}, {"search": {"limit": 4}}])
def test_a_client_that_cannot_be_asked_sends_its_settings(values: object) -> None:
    """Under our name or as they are; they replace what it sent before."""
    now = Connection(asks=False).start()
    now.settings.change({"hover": {"maxLines": 3}})
    now.settings.change(values)
    assert now.settings.of(TWO) == Settings(search=SearchSettings(4))
    assert now.configured == 2


@pytest.mark.parametrize("values", [None, {}, []])
def test_a_change_without_settings_from_a_client_that_cannot_be_asked_says_nothing(values: object) -> None:
    """What was sent before stands."""
    now = Connection(asks=False).start()
    now.settings.change({"search.limit": 4})
    now.settings.change(values)
    assert now.settings.shared.search.limit == 4
    assert now.configured == 1


@pytest.mark.parametrize("values", [{"synapse": None}, {"synapse": {}}, {"synapse": {"search": {"limit": None}}}])
def test_an_empty_section_takes_all_back(values: object) -> None:
    """The user has removed what was set."""
    now = Connection(asks=False).start()
    now.settings.change({"search.limit": 4})
    now.settings.change(values)
    assert now.settings.shared == Settings()


def test_settings_that_stay_as_they_are_change_nothing() -> None:
    """No vault hears of them."""
    now = Connection(asks=False).start({"search.limit": 4})
    now.settings.change({"search.limit": 4})
    assert now.configured == 0


def test_a_wrong_value_is_told_again_only_after_it_was_mended() -> None:
    """A change elsewhere does not repeat it; another wrong value is another thing."""
    now = Connection(asks=False).start({"search.limit": "many", "colour": 1})
    unknown = "unknown setting colour; see docs/configuration.md for the list"
    assert now.shown == [f"initializationOptions: {BAD_LIMIT}", f"initializationOptions: {unknown}"]
    now.shown.clear()
    now.settings.change({"search.limit": "many"})
    now.settings.change({"search.limit": "many", "hover.maxLines": 3})
    assert now.shown == [f"workspace/configuration: {BAD_LIMIT}"]
    now.settings.change({"search.limit": 5})
    now.settings.change({"search.limit": "many"})
    assert now.shown == [f"workspace/configuration: {BAD_LIMIT}"] * 2
    now.settings.change({"search.limit": "few"})
    assert len(now.shown) == 3


def test_a_client_that_lets_servers_register_is_asked_to_tell_of_changes() -> None:
    """Of our section alone."""
    (wish,) = Connection(registers=True).start().registered
    assert wish.method == "workspace/didChangeConfiguration"
    assert wish.register_options == lsp.DidChangeConfigurationRegistrationOptions(section="synapse")
    assert Connection().start().registered == []


def test_without_a_folder_the_client_is_asked_all_the_same() -> None:
    """A lone note may be opened later."""
    now = Connection()
    now.folders.clear()
    assert [asked for asked, _ in now.start().questions] == [[None]]


def test_a_folder_that_comes_later_waits_for_its_own_answer() -> None:
    """Not for one to a question that left it out; one that has left is not opened."""
    now = Connection()
    three = now.folders.pop(TWO)
    now.start()
    now.folders[TWO] = three
    now.settings.open([three])
    now.answer(None, {"search.limit": 4})
    assert now.opened == [f"{ONE} 4"]
    del now.folders[ONE]
    assert now.questions[-1][0] == [None, ONE, TWO]
    now.answer(None, None, {"search.limit": 5})
    assert now.opened == [f"{ONE} 4", f"{TWO} 5"]
    now.folders[ONE] = Folder(ONE, Path(ONE))
    now.settings.open([now.folders[ONE]])
    del now.folders[ONE]
    now.answer(None)
    assert len(now.opened) == 2


def test_nothing_is_waited_for_after_the_end() -> None:
    """Neither for time nor for an answer."""
    now = Connection().start()
    now.settings.stop()
    assert now.loop.due is None
    now.questions[0][1].cancel()
    assert now.opened == []
