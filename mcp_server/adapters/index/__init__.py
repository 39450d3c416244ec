"""The index: a SQLite file derived from vaults and ledger; it may be deleted at any time."""
