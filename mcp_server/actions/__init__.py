"""One file for each verb, or family of verbs: the only place that decides in which order steps happen."""
