"""What a memory is worth now: currency, trust, heat, use."""
