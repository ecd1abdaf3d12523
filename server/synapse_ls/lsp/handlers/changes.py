"""What tells of changed files and folders: all of it goes into the vaults' change queues."""

from collections.abc import Iterable

from lsprotocol import types as lsp

from synapse_ls.lsp.session import Session

RENAMES = lsp.FileOperationRegistrationOptions(
    filters=[lsp.FileOperationFilter(pattern=lsp.FileOperationPattern(glob="**/*"), scheme="file")]
)


def did_change_configuration(session: Session, params: lsp.DidChangeConfigurationParams) -> None:
    """Take over changed settings."""
    session.configuration.change(params.settings)


def did_save(session: Session, params: lsp.DidSaveTextDocumentParams) -> None:
    """Look at a saved note."""
    _submit(session, [params.text_document.uri])


def did_change_watched_files(session: Session, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Look at files that the client saw change."""
    _submit(session, [change.uri for change in params.changes])


def did_rename_files(session: Session, params: lsp.RenameFilesParams) -> None:
    """Look at both names of renamed files and folders."""
    _submit(session, [uri for file in params.files for uri in (file.old_uri, file.new_uri)])


def did_change_workspace_folders(session: Session, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    """Close the vaults of folders that left and open those of new ones."""
    for folder in params.event.removed:
        session.remove(folder.uri)
    for folder in params.event.added:
        session.add(folder.uri)


def _submit(session: Session, uris: Iterable[str]) -> None:
    for uri in uris:
        place = session.folder_of(uri)
        if place is None:
            continue
        folder, path = place
        if folder.vault is None:
            continue  # its first walk is still to come
        if path.lower().endswith(folder.vault.settings.index.extensions):
            folder.vault.submit(files=[path])
        else:
            folder.vault.submit(folders=["" if path == "." else path])
