"""The repository in which the store is exchanged with the person's other machines."""
