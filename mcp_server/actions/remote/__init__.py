"""The wing of the actions that exchange the store with the person's other machines."""
