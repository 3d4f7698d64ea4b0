"""Layer 5: the core as tools for language models, over the Model Context Protocol."""
