"""What is known of the models without loading one."""

import subprocess
import sys
from dataclasses import replace

import pytest

from synapse_ls.core.errors import ModelError
from synapse_ls.inference.registry import BUNDLED, MODELS, MULTILINGUAL, ModelSpec, find, fingerprint, identified


def test_finds_the_bundled_model() -> None:
    """The name of the default setting is a model."""
    assert find("bundled") is BUNDLED


def test_unknown_name_is_answered_with_the_known_ones() -> None:
    """The message names what was asked for and what there is."""
    with pytest.raises(ModelError, match=r'no model "bge-large"; set embedding.model to one of: bundled, .*none'):
        find("bge-large")


@pytest.mark.parametrize("spec", MODELS, ids=[spec.name for spec in MODELS])
def test_every_model_says_what_people_read(spec: ModelSpec) -> None:
    """No such field is empty: they are shown in the list of models."""
    assert all((spec.name, spec.dimensions, spec.max_tokens, spec.languages, spec.licence, spec.size_bytes))
    assert spec.description
    assert (spec.source is not None) or spec in (BUNDLED, MULTILINGUAL)
    assert 0 < spec.bands.related < spec.bands.good < spec.bands.strong < 1


def test_prefixes_pooling_and_windows_are_part_of_a_fingerprint() -> None:
    """Each makes other vectors of the same text."""
    spec = find("bge-m3")
    changed = [spec, replace(spec, pooling="mean"), replace(spec, query_prefix="q: "), replace(spec, max_tokens=64)]
    assert len({identified(one, "weights", "tokenizer").fingerprint for one in changed}) == 4


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
