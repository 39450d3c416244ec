"""The present value of a memory: currency, trust, heat, use."""
