"""The past of the corpus: what became of the pages that answers quote."""
