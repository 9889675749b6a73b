"""Generators of our own large outputs: every text is made from a seed, nothing is copied from elsewhere."""
