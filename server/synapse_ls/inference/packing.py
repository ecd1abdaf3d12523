"""The vectors of a passage as the index keeps them."""

from typing import TYPE_CHECKING

from synapse_ls.core.model import Embedded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def packed(vectors: "NDArray[np.float32]") -> Embedded:
    """Return a passage's vectors, as ``Embedder.embed_passage`` gives them, in the form that the index keeps."""
    import numpy as np

    rows = np.atleast_2d(vectors)
    return Embedded(rows[0].astype("<f4").tobytes(), np.packbits(rows[1:] > 0, axis=1).tobytes())
