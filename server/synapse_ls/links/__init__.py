"""What a link means: one rule for the indexer, search and the editor."""
