"""The vocabulary every layer speaks: text positions, notes, hits, settings, errors. Standard library only."""
