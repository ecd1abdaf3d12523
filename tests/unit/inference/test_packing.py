"""What the index keeps of a passage's vectors."""

import struct

import numpy as np  # noqa: TID253 - the rule is for start-up, which a test has not

from synapse_ls.inference.packing import packed


def test_vector_whole_and_tokens_by_their_signs() -> None:
    """Nine dimensions take two bytes a token; nothing is not above zero."""
    rows = np.array([[1.0] + [0.0] * 8, [1, -1, 0, 1, 0, 0, 0, 0, 1], [-1.0] * 9], dtype=np.float32)
    assert packed(rows) == (struct.pack("<9f", 1, *[0] * 8), b"\x90\x80\x00\x00")


def test_vector_alone() -> None:
    """A model without vectors of tokens is a model too."""
    assert packed(np.array([0.0, 1.0], dtype=np.float32)) == (struct.pack("<2f", 0, 1), b"")
