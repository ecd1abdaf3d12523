"""How far a note is trusted: what its front matter says, else its folder, else fully."""

import json
from collections.abc import Mapping

from synapse_ls.core.config import TrustSettings
from synapse_ls.core.terms import fold


class Trust:
    """The trust in notes by some settings."""

    def __init__(self, settings: TrustSettings) -> None:
        self._property = settings.property
        self._key = json.dumps(settings.property)  # as the index has them
        self._words = {fold(word): value for word, value in settings.values.items()}
        self._folders = {folder.strip("/"): value for folder, value in settings.folders.items()}

    def of(self, path: str, properties: str) -> float:
        """Return the trust in a note, 0 to 1, by its path in the vault and its front matter as JSON.

        The property counts if it is a number from 0 to 1 or one of the settings' words, whatever their case; of a list
        the least. Anything else says nothing. Of several folders that hold the note the innermost counts.
        """
        said = self._said(json.loads(properties)) if self._key in properties else []
        return min(said) if said else self._by_folder(path)

    def _said(self, properties: Mapping[str, object]) -> list[float]:
        found = properties.get(self._property)
        values = [self._value(item) for item in (found if isinstance(found, list) else [found])]
        return [value for value in values if value is not None]

    def _value(self, item: object) -> float | None:
        if isinstance(item, str) and fold(item) in self._words:
            return self._words[fold(item)]
        if isinstance(item, bool):
            return None
        try:
            number = float(str(item))
        except ValueError:
            return None
        return number if 0 <= number <= 1 else None

    def _by_folder(self, path: str) -> float:
        folder = path
        while self._folders and folder:
            folder = folder.rpartition("/")[0]
            if folder in self._folders:
                return self._folders[folder]
        return 1.0


def factor(trust: float) -> float:
    """Return by what a score is multiplied: no note sinks below half of what it is worth."""
    return 0.5 + 0.5 * trust
