"""How long a test waits for what should happen: only something that never happens takes so long."""

PATIENCE = 240.0  # seconds; a machine ten times slower than ours needs a tenth of it
