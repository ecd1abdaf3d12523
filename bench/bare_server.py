"""The framework alone: a language server without any feature, the yardstick for start-up time."""

from pygls.lsp.server import LanguageServer  # noqa: TID251 - the framework without Synapse is what is measured

if __name__ == "__main__":
    LanguageServer("bare", "0").start_io()
