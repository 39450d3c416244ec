"""Whether memories say the same, contradict each other, or age; whose word decides."""
