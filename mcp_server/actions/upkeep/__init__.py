"""What is done now and then: the worker, tidying, ageing, repair."""
