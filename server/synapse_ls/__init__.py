"""Synapse: a language server that searches folders of Markdown notes by words, meaning and links."""

__version__ = "0.1.0"
