"""Rendering of pages that scripts build, in the system's Chromium, which itself reaches nothing."""
