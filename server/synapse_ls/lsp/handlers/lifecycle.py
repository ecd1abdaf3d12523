"""The beginning and the end of a connection."""

from lsprotocol import types as lsp
from pygls.capabilities import ServerCapabilitiesBuilder

from synapse_ls.lsp.session import Session


def initialize(session: Session, params: lsp.InitializeParams) -> None:
    """Take over folders and capabilities; nothing is read and nothing loaded before the answer."""
    chosen = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
    session.begin(params, "utf-8" if chosen == "utf-8" else "utf-32" if chosen == "utf-32" else "utf-16")


def initialized(session: Session, _params: lsp.InitializedParams) -> None:
    """Start opening the vaults."""
    session.start()
    session.changed()


async def shutdown(session: Session, _params: None) -> None:
    """Stop the work on all vaults."""
    await session.run(session.stop)
