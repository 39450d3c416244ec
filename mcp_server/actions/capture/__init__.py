"""What sessions taught: from transcripts to conversations, and from those to proposed memories."""
