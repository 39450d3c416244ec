"""The texts of other tools, documents and clients: reading and writing them."""
