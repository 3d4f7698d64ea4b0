"""Frozen sites (WARC) and the scripts that pack them."""
