"""Late interaction: passages by how well each word of a query is met by one of theirs."""

from collections.abc import Sequence

from synapse_ls.search.lexical import slices
from synapse_ls.store import vectors
from synapse_ls.store.database import Connection


def late(db: Connection, query: bytes, dimensions: int, chunks: Sequence[int]) -> dict[int, float]:
    """Return the MaxSim of each of the given chunks whose tokens are known, -1 to 1.

    That is the mean, over the tokens of the query, of the cosine to the passage's nearest token.

    ``query`` is what ``Embedder.embed_query`` gives, as float32, little endian. Of the passages' tokens the signs are
    known, which stand for their vectors. Nothing is returned for a query without tokens.
    """
    import numpy as np

    asked = np.frombuffer(query, "<f4").reshape(-1, dimensions)[1:]
    rows = [row for some in slices(sorted(set(chunks))) for row in vectors.token_signs(db, some or ())]
    if not len(asked) or not rows:
        return {}
    width = -(-dimensions // 8)
    counts = [len(signs) // width for _, signs in rows]
    bits = np.frombuffer(b"".join(signs for _, signs in rows), np.uint8).reshape(-1, width)
    # The product with 1 and -1 is twice that with 1 and 0 less the sum of all.
    ones = np.unpackbits(bits, axis=1, count=dimensions).astype(np.float32)
    cosines = (2 * (ones @ asked.T) - asked.sum(axis=1)) / np.sqrt(dimensions)
    starts = np.cumsum([0, *counts[:-1]])
    nearest = np.maximum.reduceat(cosines, starts, axis=0).mean(axis=1)
    # How a product is rounded depends on its place among the others: what is equal must come out equal.
    return {chunk: round(float(score), 5) for (chunk, _), score in zip(rows, nearest, strict=True)}
