"""What comes from elsewhere and goes elsewhere: imports, documents, exports, other clients."""
