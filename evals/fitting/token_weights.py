"""Token weights of the static model from the pages of the frozen site; writes the file that the core ships.

Run it again after a change of the site or the conversion: `python -m evals.fitting.token_weights`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evals.walks.goldens import DEFAULT_SITE
from webrag_core.acquisition.warc import WarcAcquirer
from webrag_core.conversion.convert import convert_page
from webrag_core.errors import FetchError
from webrag_core.indexing.markdown import plain_text
from webrag_core.providers import static_model

_PASSAGE = 256
_VOCABULARY = 32_000


def weights_of(texts: list[str]) -> NDArray[np.float16]:
    """ln((n + 1) / (df + 1)) per token id, over passages of 256 tokens."""
    frequency = np.zeros(_VOCABULARY)
    passages = 0
    for ids in static_model.token_ids(texts):
        for start in range(0, len(ids), _PASSAGE):
            frequency[np.unique(ids[start : start + _PASSAGE])] += 1
            passages += 1
    return np.log((passages + 1) / (frequency + 1)).astype(np.float16)


async def page_texts(warc: Path) -> list[str]:
    """The pages of a frozen site without Markdown marks, by URL; what cannot be converted is left out."""
    acquirer = WarcAcquirer(warc)
    texts = []
    for url in acquirer.page_urls():
        try:
            texts.append(plain_text(convert_page(await acquirer.fetch(url)).markdown))
        except FetchError:
            continue
    await acquirer.aclose()
    return texts


def main() -> None:
    """Write `webrag_core/indexing/token_weights.npy`."""
    target = Path(static_model.__file__).with_name("token_weights.npy")
    np.save(target, weights_of(asyncio.run(page_texts(DEFAULT_SITE))))
    print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
