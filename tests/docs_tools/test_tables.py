"""What people read first can be taken in: short cells of tables, a short README."""

from __future__ import annotations

import pytest

from tests.conftest import REPOSITORY
from tests.docs_tools.markdown import NAMES, cells

_MOST_WORDS_OF_A_CELL = 40
_MOST_WORDS_OF_THE_README = 1_200


@pytest.mark.parametrize("name", NAMES)
def test_no_cell_of_a_table_is_a_paragraph(name: str) -> None:
    long = {text: len(text.split()) for text in cells(REPOSITORY / name) if len(text.split()) > _MOST_WORDS_OF_A_CELL}
    assert long == {}


def test_the_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text(encoding="utf-8").split()) <= _MOST_WORDS_OF_THE_README
