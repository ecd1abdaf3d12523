"""What is known of the models without loading one."""

import subprocess
import sys
from dataclasses import fields

import pytest

from synapse_ls.core.errors import ModelError
from synapse_ls.inference.registry import BUNDLED, find, fingerprint


def test_finds_the_bundled_model() -> None:
    """The name of the default setting is a model."""
    assert find("bundled") is BUNDLED


def test_unknown_name_is_answered_with_the_known_ones() -> None:
    """The message names what was asked for and what there is."""
    with pytest.raises(ModelError, match=r'no model "bge-large"; set embedding.model to one of: bundled, none'):
        find("bge-large")


def test_every_field_of_the_bundled_model_says_something() -> None:
    """No field is empty: people read them in the list of models."""
    assert all(getattr(BUNDLED, field.name) for field in fields(BUNDLED))


@pytest.mark.parametrize(
    "changed", [("W", "tokenizer", "recipe"), ("weights", "T", "recipe"), ("weights", "tokenizer", "R")]
)
def test_fingerprint_changes_with_each_of_its_parts(changed: tuple[str, str, str]) -> None:
    """Other weights, another tokenizer or another handling of inputs make other vectors."""
    assert fingerprint(*changed) != fingerprint("weights", "tokenizer", "recipe")


def test_fingerprint_of_the_bundled_model_is_pinned() -> None:
    """A change here makes every user's vectors anew: it must be meant."""
    assert BUNDLED.fingerprint == "e67c8bcd0fd390d7cef4b6bc8469e6de"


def test_the_whole_package_imports_without_a_model_library() -> None:
    """A server without a model pays for none: the libraries load inside functions."""
    program = (
        "import sys, synapse_ls.inference.embedder, synapse_ls.inference.pool\n"
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'fastembed', 'loguru'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
