"""A real cross-encoder, small, from a hub on loopback."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference import cross_encoder, download, installed, registry
from synapse_ls.inference.cross_encoder import CrossEncoder
from synapse_ls.inference.registry import RerankerSpec
from tests.support.tiny_model import build_cross_encoder
from tests.support.web import Hub, hub

NAME, EXTERNAL = "ms-marco-MiniLM-L-6-v2", "bge-reranker-v2-m3"
SOURCE, EXTERNAL_SOURCE = "Xenova/ms-marco-MiniLM-L-6-v2", "onnx-community/bge-reranker-v2-m3-ONNX"


def spec(name: str = NAME) -> RerankerSpec:
    """Return what is known of a reranker."""
    return next(one for one in registry.RERANKERS if one.name == name)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a small cross-encoder."""
    return build_cross_encoder(tmp_path_factory.mktemp("pairs"))


@pytest.fixture(scope="session")
def built_external(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of one whose weights lie beside."""
    return build_cross_encoder(tmp_path_factory.mktemp("external"), external=True)


@pytest.fixture
def state(built: Path, built_external: Path) -> Hub:
    """Give what the hub has and how it fails."""
    made = Hub()
    made.add(SOURCE, built)
    made.add(EXTERNAL_SOURCE, built_external)
    return made


@pytest.fixture(autouse=True)
def address(state: Hub, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve it, and have it taken for the hub; being offline for other libraries does not matter."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with hub(state) as where:
        monkeypatch.setenv("HF_ENDPOINT", where)
        yield where


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Give a folder with the downloaded model."""
    download.pull(spec(), tmp_path)
    return tmp_path


@pytest.fixture
def model(models: Path) -> CrossEncoder:
    """Give the loaded model."""
    return cross_encoder.load(NAME, models)


def test_passage_of_the_same_meaning_is_relevant(model: CrossEncoder) -> None:
    """Without a word of the query; the others are not."""
    found = model.scores("car", ["bread and flour", "an automobile", "w1 w2 w3"], 1)
    assert [score > 0.9 for score in found] == [False, True, False]
    assert max(found[0], found[2]) < 0.1


def test_more_words_of_the_query_are_more_relevant(model: CrossEncoder) -> None:
    """Query and passage are read together."""
    none, one, both = model.scores("broken car", ["garden", "vehicle", "dead vehicle"], 1)
    assert none < one < both


def test_name_in_any_case_is_the_model(models: Path) -> None:
    """Nobody remembers which letters are large."""
    assert cross_encoder.load(NAME.lower(), models).name == NAME


def test_fingerprint_follows_the_files(models: Path, model: CrossEncoder) -> None:
    """The same for the same files; another tokenizer makes other scores."""
    again = cross_encoder.load(NAME, models).fingerprint
    folder = installed.folder_of(models, NAME)
    manifest = installed.manifest_of(models, NAME)
    assert manifest is not None
    tokenizer = folder / installed.TOKENIZER
    tokenizer.write_text(tokenizer.read_text("utf-8") + "\n", "utf-8")
    files = [
        installed.File(f.name, (folder / f.name).stat().st_size, installed.sha256(folder / f.name))
        for f in manifest.files
    ]
    installed.write_manifest(folder, installed.Manifest(NAME, "hub", "main", tuple(files)))
    assert again == model.fingerprint
    assert cross_encoder.load(NAME, models).fingerprint != again


def test_long_passage_is_cut_and_the_query_is_not(model: CrossEncoder) -> None:
    """What stands at its beginning counts, what stands beyond the model's limit does not."""
    filler = "w1 " * 600
    early, late = model.scores("car", [f"automobile {filler}", f"{filler} automobile"], 1)
    assert early > 0.9
    assert late < 0.1


def test_long_query_is_cut_rather_than_refused(model: CrossEncoder) -> None:
    """The longer of the two is."""
    (score,) = model.scores("car " + "w1 " * 2000, ["automobile"], 1)
    assert score > 0.9


def test_special_tokens_in_a_note_are_text(model: CrossEncoder) -> None:
    """A passage about the token that parts the two texts does not part them."""
    plain, marked = model.scores("car", ["w1 automobile", "[SEP] automobile"], 1)
    assert marked == pytest.approx(plain, abs=0.01)


@pytest.fixture(scope="module")
def loaded(built: Path, tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    """Give the loaded model, for tests that draw their texts."""
    place = tmp_path_factory.mktemp("models")
    state = Hub()
    state.add(SOURCE, built)
    with pytest.MonkeyPatch.context() as patch, hub(state) as where:
        patch.setenv("HF_ENDPOINT", where)
        download.pull(spec(), place)
    return cross_encoder.load(NAME, place)


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=60), max_size=4), st.text(max_size=20))
def test_any_texts_have_scores(loaded: CrossEncoder, passages: list[str], query: str) -> None:
    """One for each, between 0 and 1; of the same pair the same, whatever stands beside it."""
    found = loaded.scores(query, passages, 1)
    assert len(found) == len(passages)
    assert all(0 <= score <= 1 for score in found)
    assert [loaded.scores(query, [passage], 1) for passage in passages] == [[score] for score in found]


def test_weights_beside_the_onnx_file_come_along(tmp_path: Path) -> None:
    """A model whose weights lie beside its ONNX file is loaded from both."""
    manifest = download.pull(spec(EXTERNAL), tmp_path)
    assert [file.name for file in manifest.files] == ["tokenizer.json", "model.onnx_data", "model.onnx"]
    assert cross_encoder.load(EXTERNAL, tmp_path).scores("car", ["automobile"], 1)[0] > 0.9


def test_missing_weights_beside_are_told_before_anything_is_downloaded(tmp_path: Path, state: Hub) -> None:
    """The hub is asked for all files first."""
    del state.files[f"{EXTERNAL_SOURCE}/onnx/model.onnx_data"]
    with pytest.raises(ModelError, match=r"answers 404 for onnx/model\.onnx_data"):
        download.pull(spec(EXTERNAL), tmp_path)
    assert not any(line.startswith("GET") for line in state.seen)


@pytest.mark.parametrize(
    ("name", "file", "told"),
    [
        (NAME, "tokenizer.json", "is missing"),
        (NAME, "model.onnx", "is missing"),
        (EXTERNAL, "model.onnx_data", "is missing"),
    ],
)
def test_model_without_a_file_is_not_loaded(tmp_path: Path, name: str, file: str, told: str) -> None:
    """The message has the command that mends it."""
    download.pull(spec(name), tmp_path)
    (installed.folder_of(tmp_path, name) / file).unlink()
    with pytest.raises(ModelError, match=f"damaged: {file} {told}; run: synapse-ls models pull {name}"):
        cross_encoder.load(name, tmp_path)


@pytest.mark.parametrize(("damage", "told"), [("cut", "another size"), ("changed", "other content")])
def test_damaged_model_is_not_loaded(models: Path, damage: str, told: str) -> None:
    """Every load compares every file with what was downloaded; another pull mends it."""
    path = installed.folder_of(models, NAME) / "model.onnx"
    content = path.read_bytes()
    path.write_bytes(content[:-1] if damage == "cut" else content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ModelError, match=f"damaged: model.onnx has {told} .*models pull {NAME}"):
        cross_encoder.load(NAME, models)
    download.pull(spec(), models)
    cross_encoder.load(NAME, models)


def test_download_that_was_stopped_goes_on(tmp_path: Path, state: Hub) -> None:
    """What came is kept, is no model meanwhile, and is not downloaded again."""
    stop, state.gate = threading.Event(), threading.Event()

    def progress(done: int, total: int) -> None:
        if done > total // 3:
            stop.set()
            assert state.gate is not None
            state.gate.set()

    with pytest.raises(download.PullStoppedError, match=f"goes on with: run: synapse-ls models pull {NAME}"):
        download.pull(spec(), tmp_path, progress, stop.is_set)
    with pytest.raises(ModelMissingError, match=f"not downloaded; run: synapse-ls models pull {NAME}"):
        cross_encoder.load(NAME, tmp_path)
    state.gate = None
    state.seen.clear()
    download.pull(spec(), tmp_path)
    assert [line for line in state.seen if line.startswith("GET") and "bytes=" not in line] == []
    cross_encoder.load(NAME, tmp_path)


def test_check_tells_what_is_missing_without_loading(models: Path) -> None:
    """Late interaction is always there."""
    cross_encoder.check(NAME, models)
    cross_encoder.check("late-interaction", models)
    with pytest.raises(ModelMissingError, match=f"{EXTERNAL} is not downloaded.*order they were found"):
        cross_encoder.check(EXTERNAL, models)


@pytest.mark.parametrize("name", ["bundled", "bge-m3", "BAAI/bge-small-en-v1.5"])
def test_encoder_is_no_reranker(models: Path, name: str) -> None:
    """The message says which setting is for it, and what there is for this one."""
    with pytest.raises(ModelError, match=f"{name} is an encoder, which embedding.model chooses; set rerank.model to"):
        cross_encoder.load(name, models)


@pytest.mark.parametrize("name", ["nonsense", "nobody/nothing", "/no/such/folder", "~", ""])
def test_unknown_name_is_told(models: Path, name: str) -> None:
    """With those that there are."""
    with pytest.raises(ModelError, match=f'no reranker "{name}"; set rerank.model to one of: late-interaction, ms-'):
        cross_encoder.check(name, models)


def test_file_that_is_no_model_is_told(tmp_path: Path, state: Hub) -> None:
    """On one line, even if it is what the hub says it is."""
    state.files[f"{SOURCE}/onnx/model.onnx"] = b"nothing of\nthe kind"
    download.pull(spec(), tmp_path)
    with pytest.raises(ModelError, match="cannot be loaded") as raised:
        cross_encoder.load(NAME, tmp_path)
    assert "\n" not in str(raised.value)


def test_closed_model_gives_no_scores(model: CrossEncoder) -> None:
    """Its memory is free again."""
    model.close()
    with pytest.raises(ModelError, match="is closed"):
        model.scores("car", ["automobile"], 1)


def test_waiting_threads_do_not_spin(model: CrossEncoder) -> None:
    """And memory is not kept between runs."""
    options = model._encoder.model.get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    assert (options.enable_cpu_mem_arena, options.enable_mem_pattern) == (False, False)
