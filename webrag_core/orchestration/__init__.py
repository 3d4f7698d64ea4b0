"""Layer 4: the loop and its decisions. Faces: `engine.OrchestratorEngine`, `lookup.search_corpus`."""
