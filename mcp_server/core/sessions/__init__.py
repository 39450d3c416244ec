"""Transcripts, conversations and saved sessions as text."""
