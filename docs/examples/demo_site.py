"""Settings of the examples: 22 pages of the Python documentation, frozen, which come with the package.

Nothing is fetched from the network. In your own script use `load_settings()`, or leave the settings out.
"""

from __future__ import annotations

from importlib.resources import files

from webrag_core import Settings, load_settings

START = "https://docs.python.org/3.11/library/numeric.html"
QUESTION = "How do I compute the greatest common divisor of several integers?"


def demo_settings() -> Settings:
    """The settings of the environment, with the frozen site in place of the web."""
    return load_settings(webrag_warc=str(files("evals") / "sites" / "demo.warc.gz"))
