"""A fetched page as Markdown: parsing, main content, links, PDF, in workers that can be killed."""
