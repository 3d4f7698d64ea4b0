"""What an installation brings, measured in fresh environments; needs the package registry."""
