"""Errors whose message a user reads."""


class SynapseError(Exception):
    """Something a user can act on: the message is one sentence that says what to do."""


class VaultError(SynapseError):
    """The folder given as a vault cannot be used."""


class ModelError(SynapseError):
    """A model is missing, damaged or failed; search goes on by words and links."""


class ModelMissingError(ModelError):
    """A model is not installed or not downloaded yet; the message has the command that brings it."""


class IndexStateError(SynapseError):
    """The index cannot be opened or written; the notes themselves are safe."""
