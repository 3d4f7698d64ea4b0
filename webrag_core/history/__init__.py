"""The past of the corpus: states of the citations of earlier answers."""
