"""What is a change of a text and what is only layout; the section that a path of headings names."""

from __future__ import annotations

import pytest

from webrag_core.watches.differences import differences
from webrag_core.watches.sections import section_of

TEA = """# Tea

## Brewing

Green tea is brewed at **80** degrees. Boiling water makes it bitter.

- Warm the pot. Then pour.
- Wait.

| leaf | minutes |
|---|---|
| green | 2 |
| black | 4 |

```
pot.open(guest)
```

## Storing

Keep it “dry” – see [the shelf](https://tea.example/shelf).
"""
LAYOUTS = {
    "white space": TEA.replace("Green tea", "Green\u00a0 tea").replace("bitter.\n", "bitter.\n\n\n"),
    "marks": TEA.replace("**80**", "80").replace("- W", "* W"),
    "signs": TEA.replace("“dry” –", '"dry" -'),
    "addresses of links": TEA.replace("tea.example/shelf", "tea.example/new/shelf"),
    "paragraphs": TEA.replace("degrees. B", "degrees.\n\nB"),
    "a list as paragraphs": TEA.replace("- Warm the pot. Then pour.\n- Wait.", "Warm the pot.\n\nThen pour.\n\nWait."),
    "numbers of items": TEA.replace("- Warm", "1. Warm").replace("- Wait", "2. Wait"),
    "order of rows": TEA.replace("| green | 2 |\n| black | 4 |", "| black | 4 |\n| green | 2 |"),
    "lines of a table": TEA.replace("|---|---|", "| :--- | ---: |"),
    "language of code": TEA.replace("```\npot", "```python\npot"),
    "invisible characters": TEA.replace("Boiling", "Boil\u00ading"),
    "order of sections": "# Tea\n\n## Storing" + TEA.partition("## Storing")[2] + "\n" + "## Brewing"
    + TEA.partition("## Brewing")[2].partition("## Storing")[0],
}  # fmt: skip
CHANGES = {
    "a number": ("80", "85"),
    "a decimal point": ("80", "8.0"),
    "a word": ("bitter", "sweet"),
    "a negation": ("is brewed", "is not brewed"),
    "a cell": ("| 4 |", "| 5 |"),
    "code": ("open(guest)", "open(host)"),
    "a heading": ("## Storing", "## Keeping"),
    "a sentence that went": (" Boiling water makes it bitter.", ""),
    "a sentence that came": ("- Wait.", "- Wait. Then drink."),
    "capital letters": ("Boiling", "boiling"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout_is_no_change(name: str) -> None:
    assert LAYOUTS[name] != TEA
    assert differences(TEA, LAYOUTS[name]) == differences(LAYOUTS[name], TEA) == []


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("layout", ["white space", "a list as paragraphs", "order of sections"])
def test_a_change_is_seen_in_any_layout(name: str, layout: str) -> None:
    before, after = CHANGES[name]
    changed = LAYOUTS[layout].replace(before, after)
    if changed == LAYOUTS[layout]:
        changed = LAYOUTS[layout].replace("Wait.", "Wait. Then drink.")
    assert differences(TEA, changed)
    assert differences(changed, TEA)


def test_a_difference_is_the_changed_sentence_under_its_heading() -> None:
    [passage] = differences(TEA, TEA.replace("80", "75"))
    assert passage.heading_path == ("Tea", "Brewing")
    assert passage.before == "Green tea is brewed at 80 degrees."
    assert passage.after == "Green tea is brewed at 75 degrees."
    [row] = differences(TEA, TEA.replace("| 4 |", "| 5 |"))
    assert (row.before, row.after) == ("black | 4", "black | 5")


def test_a_sentence_that_is_said_once_less_is_a_change() -> None:
    [passage] = differences("Wait.\n\nPour.\n\nWait.", "Wait.\n\nPour.")
    assert (passage.before, passage.after) == ("Wait.", None)


def test_a_section_is_named_by_its_headings() -> None:
    text = TEA + "\n### 2.1 In a *tin*\n\nDry.\n\n## Serving\n\n### In a tin\n\nHot.\n"
    storing = section_of(text, ["storing"])
    assert storing is not None
    assert storing.startswith("## Storing")
    assert storing.endswith("Dry.\n") or storing.endswith("Dry.")
    assert section_of(text, ["Tea", "Storing"]) == storing
    assert "Dry" in (section_of(text, ["Storing", "In a tin"]) or "")
    assert "Hot" in (section_of(text, ["Serving", "In a tin"]) or "")
    assert section_of(text, ["Tea", "In a tin"]) is None
    assert section_of(text, ["Brew"]) is None
