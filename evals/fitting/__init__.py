"""Fits of probabilities, relevance and token weights, with their validation."""
