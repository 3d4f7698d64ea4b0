"""What a page states in its mark-up, beside its text: JSON-LD, microdata, RDFa Lite, relations of its head."""
