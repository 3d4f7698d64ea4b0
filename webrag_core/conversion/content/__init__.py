"""Tell the content of a page from what stands around it, with a model fitted on pages of many kinds."""
