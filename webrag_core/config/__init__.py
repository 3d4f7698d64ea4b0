"""Settings: the one place that reads the environment.

Names are the environment variables in lower case (`RERANKER_TOP_N` sets `reranker_top_n`). A file that the user names
is read too (`env_file`); the environment wins over it. Every default works offline and without a key. Each module is a
group; what reads settings of one group alone takes that group, and `Settings` is each of them.
"""

from webrag_core.config.expansion import LinkScorer
from webrag_core.config.loading import load_settings
from webrag_core.config.settings import Settings

__all__ = ["LinkScorer", "Settings", "load_settings"]
