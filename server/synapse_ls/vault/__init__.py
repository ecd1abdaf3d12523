"""One open vault: its index, its watcher, its searches."""
