"""How far the indexer is, read by others while it works."""

from dataclasses import dataclass


@dataclass(slots=True)
class Progress:
    """Files of the update in work; ``words_ready`` once the first walk is done."""

    files_total: int = 0
    files_left: int = 0
    words_ready: bool = False


@dataclass(slots=True)
class Counters:
    """Work done since the start. ``chunks_reused`` counts chunks of changed notes that stayed as they were."""

    files_read: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0
    searches: int = 0
