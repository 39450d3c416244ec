"""Secrets in text: their places, their shapes, and masking them."""
