"""Daybook: a memory for Claude Code, kept in markdown files that people can edit."""

__version__ = "0.1.0"
