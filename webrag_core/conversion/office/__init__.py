"""Office files to HTML, which is then converted as any other page."""
