"""Which errors of the system pass by themselves."""

import errno

# Names, since not every system knows all of them.
_PASSING = frozenset(
    number
    for name in (
        "EAGAIN", "EBUSY", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EHOSTDOWN", "EHOSTUNREACH", "EINTR", "EIO",
        "EMFILE", "ENETDOWN", "ENETRESET", "ENETUNREACH", "ENFILE", "ENOBUFS", "ENODEV", "ENOLINK", "ENOMEM",
        "ENOTCONN", "ENXIO", "EREMOTEIO", "ESHUTDOWN", "ESTALE", "ETIMEDOUT", "ETXTBSY",
    )
    if (number := getattr(errno, name, None)) is not None
)  # fmt: skip


def passes(error: OSError) -> bool:
    """Return whether what failed may well succeed later, as when a network folder is away or handles are short.

    What the index holds is kept then: it is not known to be gone. A refusal such as ``EACCES`` is meant to last.
    """
    return error.errno in _PASSING
