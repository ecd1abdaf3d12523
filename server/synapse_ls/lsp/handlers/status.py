"""The state of the vaults."""

from typing import Any

from synapse_ls.lsp.session import Session


async def status(session: Session, _params: object) -> dict[str, Any]:
    """Answer ``synapse/status``."""
    return await session.run(session.status)
