# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # First steps with WebRAG
#
# This notebook asks a frozen copy of 22 pages of the Python documentation, which come with the package. It needs no
# network and no key. `make notebook` makes it from `first_steps.py`.

# %%
from demo_site import QUESTION, START, demo_settings

from webrag_core import WebRAG

rag = WebRAG(demo_settings()).open()

# %% [markdown]
# An answer consists of sentences of the pages. Each is proved against the stored text of its page. A notebook shows an
# answer as Markdown; the links open the live page at the quote.

# %%
answer = rag.ask(QUESTION, urls=(START,))
answer

# %% [markdown]
# `status` says first whether the question is answered: `answered`, `partial` or `not_found`.

# %%
print(answer.status, f"{answer.confidence:.0%}")
quote = answer.citations[0]
print(repr(quote.quote))
print(quote.url, "version", quote.version, "characters", quote.char_start, "to", quote.char_end)

# %% [markdown]
# What was read is stored: it can be searched, and asked again without reading anything.

# %%
for citation in rag.search("least common multiple").citations[:3]:
    print(f"{citation.relevance:.2f}", citation.source_url, citation.section_heading)

# %% [markdown]
# While an answer comes into being, events say what happens.

# %%
for event in rag.events("How is a least common multiple computed?"):
    print(event.type)

# %% [markdown]
# Do the quotes of the first answer still stand on their pages?

# %%
print([one.state for one in rag.citations(answer)])

# %%
rag.close()
