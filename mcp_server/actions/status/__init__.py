"""The state of Daybook: what needs the person, doctor, counts."""
