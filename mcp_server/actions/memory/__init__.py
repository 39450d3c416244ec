"""The verbs of a memory: remember, revise, forget, restore, link, pin, trust."""
