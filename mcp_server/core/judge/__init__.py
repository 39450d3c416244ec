"""Whether memories say the same, contradict each other, or age, and whose word decides."""
