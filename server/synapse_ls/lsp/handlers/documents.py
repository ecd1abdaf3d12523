"""Documents that open, change and close: handled in order, on the event loop, touching no disk."""

from lsprotocol import types as lsp

from synapse_ls.lsp.session import Session


def did_open(session: Session, params: lsp.DidOpenTextDocumentParams) -> None:
    """Take over a document."""
    session.documents.open(params.text_document)
    session.adopt(params.text_document.uri)
    session.typed(params.text_document.uri, at_once=True)
    session.prefer_open()


def did_change(session: Session, params: lsp.DidChangeTextDocumentParams) -> None:
    """Apply edits to a document."""
    document = params.text_document
    session.documents.change(document.uri, document.version, params.content_changes, session.encoding)
    session.active()
    session.typed(document.uri)


def did_close(session: Session, params: lsp.DidCloseTextDocumentParams) -> None:
    """Let a document go."""
    session.documents.close(params.text_document.uri)
    session.let_go(params.text_document.uri)
    session.abandon()
    session.prefer_open()
