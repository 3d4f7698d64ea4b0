"""A question that follows another one: what it leaves open, and the words of the earlier question that complete it."""
