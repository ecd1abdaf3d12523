"""How a model is opened: quietly, locally, on one thread."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from synapse_ls.inference import bundled
from synapse_ls.inference.session import open_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer


@pytest.fixture(scope="module")
def opened() -> "tuple[InferenceSession, Tokenizer]":
    """Open the bundled model by hand."""
    return open_session(bundled.ORIGIN, bundled.weights(), bundled.TOKENIZER_DIR)


def test_runs_on_the_cpu_and_on_one_thread(opened: "tuple[InferenceSession, Tokenizer]") -> None:
    """One run uses the calling thread alone, and no other provider is asked."""
    options = opened[0].get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert opened[0].get_providers() == ["CPUExecutionProvider"]


@pytest.mark.parametrize("pool", ["intra_op", "inter_op"])
def test_threads_do_not_spin(opened: "tuple[InferenceSession, Tokenizer]", pool: str) -> None:
    """A waiting thread of onnxruntime sleeps."""
    assert opened[0].get_session_options().get_session_config_entry(f"session.{pool}.allow_spinning") == "0"


def test_keeps_no_memory_between_runs(opened: "tuple[InferenceSession, Tokenizer]") -> None:
    """Neither the arena nor the memory pattern is on."""
    options = opened[0].get_session_options()
    assert (options.enable_cpu_mem_arena, options.enable_mem_pattern) == (False, False)


def test_long_text_becomes_windows_of_at_most_the_limit(opened: "tuple[InferenceSession, Tokenizer]") -> None:
    """Nothing is cut: 600 words and the special tokens of three windows are all there; nothing is padded."""
    first = opened[1].encode("word " * 600)
    assert [len(window.ids) for window in (first, *first.overflowing)] == [256, 256, 94]


def test_special_tokens_in_a_text_are_text(opened: "tuple[InferenceSession, Tokenizer]") -> None:
    """A note about the token that ends an input does not end the input."""
    assert opened[1].encode("a [SEP] b").tokens == ["[CLS]", "a", "[", "sep", "]", "b", "[SEP]"]


def test_loading_prints_nothing_and_writes_nothing(tmp_path: Path) -> None:
    """Standard output belongs to the protocol; the folders of weights and tokenizer stay as they are."""
    folders = (bundled.weights().parent, bundled.TOKENIZER_DIR)
    before = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    program = "from synapse_ls.inference.embedder import load\nload('bundled').embed_query('quiet')"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-B", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"HF_HUB_OFFLINE": "1", "PATH": "", "PYTHONPATH": ":".join(sys.path), "TMPDIR": str(tmp_path / "none")},
    )
    after = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    assert (run.stdout, run.stderr, after) == ("", "", before)
    assert not list(tmp_path.iterdir())
