"""Earlier versions of a memory, and how a change is taken back."""
