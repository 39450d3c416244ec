"""One file or folder for each outside thing; the only place for third-party libraries."""
