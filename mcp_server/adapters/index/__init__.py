"""The index: a SQLite file derived from vaults and ledger, which may be thrown away at any time."""
