"""Answers shaped for an editor, as functions of a vault."""
