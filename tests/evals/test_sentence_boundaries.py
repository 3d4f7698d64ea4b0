"""The measurement of sentence boundaries, on a treebank written here."""

from __future__ import annotations

from pathlib import Path

from evals.sentence_boundaries import Passage, inner_ends, mistakes, passages, score, segmenter, treebanks

_FILE = """# newdoc id = one
# text = Dr. Lopez came.
1\tDr.
# text = She left.
# newdoc id = two
# text = A document of its own
# newdoc id = three
# text = Another  one.
# text = Its end.
"""


def test_a_treebank_is_read_by_documents(tmp_path: Path) -> None:
    (tmp_path / "en_own-ud-test.conllu").write_text(_FILE, encoding="utf-8")
    [path] = treebanks(tmp_path)["en"]
    assert list(passages(path, "en")) == [
        Passage("Dr. Lopez came. She left.", frozenset({15})),
        Passage("A document of its own Another one. Its end.", frozenset({21, 34})),
    ]
    assert next(passages(path, "zh")).text == "Dr. Lopez came.She left."


def test_boundaries_are_counted_without_white_space() -> None:
    passage = Passage("Dr. Lopez came. She left.", frozenset({15}))
    assert inner_ends(passage.text, [16, 25]) == {15}
    ends = segmenter("webrag", "en")
    assert ends is not None
    assert score([passage], ends).f1 == 1.0
    assert score([passage], lambda text: [4, 16]).f1 == 2 / 3
    assert list(mistakes([passage], lambda text: [4])) == [
        "+ Dr.⏐ Lopez came. She left.",
        "- Dr. Lopez came.⏐ She left.",
    ]
