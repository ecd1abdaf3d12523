"""Keeps the store equal to the disk."""
