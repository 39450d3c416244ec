"""The wing of the core that joins what several machines of a person wrote."""

OF_COPY = "@"  # in the name of a ledger's file, before the name of the copy of the store that wrote it
