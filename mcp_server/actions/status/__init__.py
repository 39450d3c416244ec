"""How it is: what needs the person, doctor, counts."""
