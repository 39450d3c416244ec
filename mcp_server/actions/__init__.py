"""One file for each verb, or family of verbs: the only place where things happen in an order."""
