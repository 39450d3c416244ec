"""The models that compute: which are allowed, which embeds, and what a call may cost."""
