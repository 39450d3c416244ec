"""What runs from time to time: the worker, tidying, ageing, repair."""
