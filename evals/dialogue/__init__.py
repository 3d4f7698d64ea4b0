"""Whether a question that follows another one is read as its full question would be."""
