"""Between files and index: reading a memory, the one road in (`sync`), the one road out (`commit`)."""
