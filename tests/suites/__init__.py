"""Public test data, unchanged, each folder under the licence that lies in it (see NOTICE); and its readers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class EncodingCase:
    """One page of html5lib-tests and the label of the encoding that a browser reads it in."""

    name: str
    body: bytes
    label: str


def encoding_cases() -> list[EncodingCase]:
    """The cases of html5lib-tests/encoding that run no script."""
    cases = []
    for path in sorted((_HERE / "html5lib").glob("*.dat")):
        for number, part in enumerate(b"\n".join([b"", path.read_bytes()]).split(b"\n#data\n")[1:], start=1):
            body, label = part.rsplit(b"\n#encoding\n", 1)
            cases.append(EncodingCase(f"{path.stem}-{number}", body, label.decode().strip()))
    return cases


def url_cases() -> list[dict[str, Any]]:
    """The cases of web-platform-tests' urltestdata.json; the strings between them are remarks."""
    entries = json.loads((_HERE / "wpt" / "urltestdata.json").read_text())
    return [entry for entry in entries if isinstance(entry, dict)]


def naughty_strings() -> list[str]:
    """The Big List of Naughty Strings."""
    strings: list[str] = json.loads((_HERE / "blns" / "blns.json").read_text())
    return strings


def injections(*files: Path) -> list[str]:
    """Texts that try to instruct a model that reads them: a sample of BIPIA, or those of other files of its form."""
    found: list[str] = []
    for path in files or (_HERE / "bipia" / "attacks_sample.json",):
        for attacks in json.loads(path.read_text()).values():
            found += attacks
    return found
