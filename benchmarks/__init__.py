"""What `make bench-…` runs. Not part of the installed package."""
