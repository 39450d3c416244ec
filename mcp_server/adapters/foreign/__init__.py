"""The stores of other memory tools: one module for each format, which reads it and changes nothing there."""
