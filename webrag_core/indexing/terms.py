from webrag_core.retrieval.terms import *  # noqa
