"""Downloading a model from a hub on loopback, and what can go wrong with it."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference import download, embedder, installed, registry
from synapse_ls.inference.registry import ModelSpec, Source
from tests.support.tiny_model import build
from tests.support.web import COMMIT, Hub, hub

NAME = "bge-small-en-v1.5"
SPEC = registry.find(NAME)
EXTERNAL = registry.find("bge-m3")
SOURCE = "BAAI/bge-small-en-v1.5"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a small encoder with the dimensions of the one it stands for."""
    return build(tmp_path_factory.mktemp("tiny"), 384)


@pytest.fixture
def state(built: Path) -> Hub:
    """Give what the hub has and how it fails."""
    made = Hub()
    made.add(SOURCE, built)
    return made


@pytest.fixture(autouse=True)
def address(state: Hub, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve it, and have it taken for the hub; being offline for other libraries does not matter."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with hub(state) as where:
        monkeypatch.setenv("HF_ENDPOINT", where)
        yield where


def test_model_that_was_downloaded_embeds(tmp_path: Path, state: Hub) -> None:
    """All of one revision; words of one meaning come out near, and the fingerprint is that of the files."""
    heard: list[tuple[int, int]] = []
    manifest = download.pull(SPEC, tmp_path, lambda done, total: heard.append((done, total)))
    assert [file.name for file in manifest.files] == ["config.json", "tokenizer.json", "model.onnx"]
    assert manifest.revision == COMMIT
    assert heard[-1] == (manifest.size, manifest.size)
    assert sum("resolve/main" in line for line in state.seen) == 1
    model = embedder.load(NAME, tmp_path)
    query = model.embed_query("car")[0]
    assert float(query @ model.embed_passage("automobile")[0]) > float(query @ model.embed_passage("bread")[0]) + 0.3
    assert model.spec.fingerprint == installed.completed(SPEC, tmp_path).fingerprint != ""
    assert not installed.staging_of(tmp_path, NAME).exists()


def test_external_weights_come_along(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, state: Hub) -> None:
    """A model whose weights lie beside its ONNX file is loaded from both."""
    folder = build(tmp_path_factory.mktemp("external"), 1024, external=True)
    for path in folder.iterdir():
        state.files[f"BAAI/bge-m3/onnx/{path.name}"] = path.read_bytes()
    state.files["BAAI/bge-m3/onnx/Constant_7_attr__value"] = b"\0" * 64
    download.pull(EXTERNAL, tmp_path)
    assert embedder.load("bge-m3", tmp_path).embed_query("car").shape[1] == 1024


def test_hub_may_lead_elsewhere_first(tmp_path: Path, state: Hub) -> None:
    """As it does for a repository that was renamed."""
    state.renamed = True
    assert download.pull(SPEC, tmp_path).revision == COMMIT
    embedder.load(NAME, tmp_path)


def test_missing_external_weights_are_told_before_anything_is_downloaded(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, state: Hub
) -> None:
    """The hub is asked for all files first."""
    folder = build(tmp_path_factory.mktemp("external"), 1024, external=True)
    state.files["BAAI/bge-m3/onnx/model.onnx"] = (folder / "model.onnx").read_bytes()
    with pytest.raises(ModelError, match=r"answers 404 for onnx/config\.json"):
        download.pull(EXTERNAL, tmp_path)
    assert not any(line.startswith("GET") for line in state.seen)


def test_dropped_connection_is_taken_up_where_it_was(tmp_path: Path, state: Hub) -> None:
    """A server that ends early each time still gives the whole file, piece by piece."""
    size = len(state.files[f"{SOURCE}/onnx/model.onnx"])
    state.drop = size // 3 + 1
    download.pull(SPEC, tmp_path)
    begun = [int(line.rpartition("bytes=")[2][:-1]) for line in state.seen if "bytes=" in line and "/stored" in line]
    assert begun == sorted(begun)
    assert len(begun) > 1
    assert begun[0] > size // 5
    embedder.load(NAME, tmp_path)


def test_download_that_was_stopped_goes_on(tmp_path: Path, state: Hub) -> None:
    """What came is kept, is no model meanwhile, and is not downloaded again."""
    stop = threading.Event()
    state.gate = threading.Event()

    def progress(done: int, total: int) -> None:
        if done > total // 3:
            stop.set()
            assert state.gate is not None
            state.gate.set()

    with pytest.raises(download.PullStoppedError, match=f"goes on with: run: synapse-ls models pull {NAME}"):
        download.pull(SPEC, tmp_path, progress, stop.is_set)
    assert installed.pulled(tmp_path) == []
    with pytest.raises(ModelMissingError, match=f"not downloaded; run: synapse-ls models pull {NAME}"):
        embedder.load(NAME, tmp_path)
    state.gate = None
    state.seen.clear()
    download.pull(SPEC, tmp_path)
    assert [line for line in state.seen if line.startswith("GET") and "bytes=" not in line] == []
    embedder.load(NAME, tmp_path)


def test_server_without_ranges_gives_all_of_it_again(tmp_path: Path, state: Hub) -> None:
    """A clean restart in place of a seam."""
    staging = installed.staging_of(tmp_path, NAME)
    staging.mkdir(parents=True)
    content = state.files[f"{SOURCE}/onnx/model.onnx"]
    part = f"model.onnx.{installed.sha256(_kept(tmp_path, content))[:16]}.part"
    (staging / part).write_bytes(b"x" * 100)
    state.ranges = False
    download.pull(SPEC, tmp_path)
    assert (installed.folder_of(tmp_path, NAME) / "model.onnx").read_bytes() == content


def _kept(folder: Path, content: bytes) -> Path:
    path = folder / "kept"
    path.write_bytes(content)
    return path


def test_corrupt_file_is_removed_and_comes_anew(tmp_path: Path, state: Hub) -> None:
    """Other bytes than the hub announced are no model."""
    state.wrong = True
    with pytest.raises(ModelError, match=r"What came of model\.onnx is not what the hub says it is"):
        download.pull(SPEC, tmp_path)
    assert installed.pulled(tmp_path) == []
    state.wrong = False
    download.pull(SPEC, tmp_path)
    embedder.load(NAME, tmp_path)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"hashes": False}, "does not say what config.json should be"),
        ({"status": 403}, "answers 403"),
        ({"status": 500}, "answers 500"),
    ],
)
def test_hub_that_refuses_is_told(tmp_path: Path, state: Hub, fault: dict[str, object], told: str) -> None:
    """One sentence, and nothing is kept."""
    for name, value in fault.items():
        setattr(state, name, value)
    with pytest.raises(ModelError, match=told):
        download.pull(SPEC, tmp_path)
    assert installed.pulled(tmp_path) == []


def test_offline_fails_with_the_command_to_run_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody answers at that address."""
    with hub(Hub()) as gone:
        monkeypatch.setenv("HF_ENDPOINT", gone)
    with pytest.raises(
        ModelError, match=f"cannot be reached; when there is a connection, run: synapse-ls models pull {NAME}"
    ):
        download.pull(SPEC, tmp_path)


def test_silent_hub_is_not_waited_for(tmp_path: Path, state: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection over which nothing comes is given up; what came is kept."""
    monkeypatch.setattr(download, "_SILENCE_SECONDS", 0.2)
    state.gate = threading.Event()
    try:
        with pytest.raises(ModelError, match="when there is a connection"):
            download.pull(SPEC, tmp_path)
    finally:
        state.gate.set()
    assert any(
        path.suffix == ".part" and path.stat().st_size for path in installed.staging_of(tmp_path, NAME).iterdir()
    )


def test_endpoint_that_is_no_address_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked for."""
    monkeypatch.setenv("HF_ENDPOINT", "ftp://somewhere")
    with pytest.raises(ModelError, match="HF_ENDPOINT is 'ftp://somewhere'"):
        download.consent(SPEC, tmp_path)


def test_consent_names_size_licence_source_and_place(tmp_path: Path, address: str) -> None:
    """All that somebody should know, before the first byte."""
    told = download.consent(SPEC, tmp_path)
    for part in (NAME, "134 MB", f"{address}/{SOURCE}", "MIT", "English", str(tmp_path)):
        assert part in told


@pytest.mark.parametrize(
    ("damage", "told"),
    [("cut", "another size"), ("changed", "other content"), ("gone", "is missing")],
)
def test_damaged_model_is_not_loaded(tmp_path: Path, damage: str, told: str) -> None:
    """Every load compares every file with what was downloaded."""
    download.pull(SPEC, tmp_path)
    path = installed.folder_of(tmp_path, NAME) / "model.onnx"
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "cut" else content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ModelError, match=f"damaged: model.onnx .*{told}.*models pull {NAME}"):
        embedder.load(NAME, tmp_path)


def test_damaged_model_is_mended_by_another_pull(tmp_path: Path) -> None:
    """It takes the place of the damaged one."""
    download.pull(SPEC, tmp_path)
    (installed.folder_of(tmp_path, NAME) / "model.onnx").write_bytes(b"")
    download.pull(SPEC, tmp_path)
    embedder.load(NAME, tmp_path)


def test_removed_model_is_gone(tmp_path: Path) -> None:
    """With all its bytes."""
    manifest = download.pull(SPEC, tmp_path)
    assert installed.remove(tmp_path, NAME) >= manifest.size
    assert not installed.folder_of(tmp_path, NAME).exists()


def test_model_that_is_no_model_of_a_hub_is_not_downloaded(tmp_path: Path) -> None:
    """The message says what to do with it."""
    with pytest.raises(ModelError, match="not one to download"):
        download.pull(registry.BUNDLED, tmp_path)


def test_two_downloads_of_one_model_do_not_mix(tmp_path: Path, state: Hub) -> None:
    """The second says so at once."""
    state.gate = threading.Event()
    first = threading.Thread(target=download.pull, args=(SPEC, tmp_path))
    first.start()
    try:
        assert state.reached.wait(20)
        with pytest.raises(ModelError, match="being downloaded by another Synapse"):
            download.pull(SPEC, tmp_path)
    finally:
        state.gate.set()
        first.join()


def test_wrong_dimensions_are_told(tmp_path: Path, state: Hub, built: Path) -> None:
    """A model that is not what its row says is not used."""
    spec: ModelSpec = replace(
        SPEC, name="other", dimensions=7, source=Source(SOURCE, "onnx/model.onnx", ("config.json", "tokenizer.json"))
    )
    download.pull(spec, tmp_path)
    weights, tokenizer = installed.checked(spec, tmp_path)
    with pytest.raises(ModelError, match="vectors of 384 numbers, not 7"):
        embedder._opened(spec, weights, tokenizer)
    assert built.exists()
    assert state.files


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "files": [{"name": "../x", "size": 1, "sha256": ""}]}']
)
def test_list_of_files_that_is_none_is_no_model(tmp_path: Path, text: str) -> None:
    """Nor is one that leads elsewhere."""
    folder = installed.folder_of(tmp_path, NAME)
    folder.mkdir()
    (folder / installed.MANIFEST).write_text(text, "utf-8")
    assert installed.manifest_of(tmp_path, NAME) is None
    assert installed.pulled(tmp_path) == []
