"""What a check of ``synapse-ls doctor`` has found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at.

    Not ``ok`` means that something must be done, and ``advice`` says what. Advice on what is ``ok`` is a warning.
    """

    name: str
    ok: bool
    detail: str
    advice: str | None = None
