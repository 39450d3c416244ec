"""Between files and index: reading a memory, `sync` from files to index, `commit` for changes of files."""
