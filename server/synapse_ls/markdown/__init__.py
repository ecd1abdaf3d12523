"""Text to Note and chunks: pure functions, no I/O, no failure on any input."""
