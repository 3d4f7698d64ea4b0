"""The pictures of README and documentation, taken of the real commands and pages (`make screenshots`)."""
