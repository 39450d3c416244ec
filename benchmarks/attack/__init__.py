"""Attacks on Daybook that take longer than tests may: `python -m benchmarks.attack --help`."""
