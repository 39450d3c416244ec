"""Secrets in text: where they stand, what they look like, and masking them."""
