"""Copies of pages in web archives (RFC 7089)."""
