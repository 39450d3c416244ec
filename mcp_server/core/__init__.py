"""What things are and how they are computed: standard library only, no input or output."""
