"""The query side: legs, fusion, snippets."""
