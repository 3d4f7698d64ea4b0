"""README and documentation name commands, options, targets, files and headings that there are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from typer.core import TyperGroup

from documentation.commands import command_line
from tests.conftest import REPOSITORY
from tests.documentation.markdown import DOCS, NAMES, anchors, code, links
from webrag_core.config import Settings

_COMMAND = re.compile(r"(?:^|[|&;(] *|[A-Z_]+=\S+ )(?:\$ )?(?:\S*/)?webrag (?P<words>[^|&;#)]+)")
_MOST_PICTURE_BYTES = 150_000


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_what_there_is(name: str) -> None:
    page = REPOSITORY / name
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_every_picture_is_small_and_shown() -> None:
    shown = {(REPOSITORY / name).parent / target for name in NAMES for target in links(REPOSITORY / name)}
    for picture in (DOCS / "images").iterdir():
        assert picture.stat().st_size < _MOST_PICTURE_BYTES, picture
        assert picture in {file.resolve() for file in shown}, f"nobody sees {picture}"


def _calls(name: str) -> Iterator[list[str]]:
    """Words after `webrag` of every command on this page, where they are more than a mention of it."""
    for line in code(REPOSITORY / name):
        for found in _COMMAND.finditer(line):
            try:
                yield shlex.split(found["words"])
            except ValueError:  # an output that only looks like a command
                continue


@pytest.fixture(scope="module")
def group() -> TyperGroup:
    return command_line()


@pytest.mark.parametrize("name", NAMES)
def test_commands_and_their_options_exist(name: str, group: TyperGroup) -> None:
    for words in _calls(name):
        problem = _problem(words, group)
        assert problem is None, f"webrag {shlex.join(words)}: {problem}"


def _problem(words: list[str], group: TyperGroup) -> str | None:
    """What is wrong with these words after `webrag`: None, or the first unknown command or option.

    `…`, `COMMAND` and the like stand for something else; a first word of `feedback` that is no command is an answer.
    """
    command, options = group, _options(group)
    for word in words:
        if word.startswith("-") and word.strip("-").strip():
            if word.partition("=")[0] not in options | {"--help"}:
                return f"no option {word}"
        elif isinstance(command, TyperGroup):
            choices = word.split("|")
            if not all(re.fullmatch(r"[a-z-]+", choice) for choice in choices):
                return None
            if unknown := [choice for choice in choices if choice not in command.commands]:
                return f"no command {unknown[0]}"
            command = command.commands[choices[-1]]
            options = _options(command)
    return None
