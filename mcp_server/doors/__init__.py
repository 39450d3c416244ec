"""Doors: they parse what comes in, call one action, and render what comes out. No decisions."""
