"""The ledger added up: the tables that are derived from its events."""
