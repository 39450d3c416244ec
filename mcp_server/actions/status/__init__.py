"""How it is: doctor, counts, and what the memory finds of itself."""
