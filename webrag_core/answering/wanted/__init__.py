"""What a question wants: of which thing, and which kind of fact."""
