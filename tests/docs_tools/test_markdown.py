"""README and documentation name commands, options, targets, files and headings that there are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from typer.core import TyperCommand, TyperGroup

from docs_tools.commands import command_line
from tests.conftest import REPOSITORY
from tests.docs_tools.markdown import DOCS, NAMES, anchors, code, links
from webrag_core.config import Settings
from webrag_core.env_file import RENAMED

_COMMAND = re.compile(r"(?:^|[|&;(] *|[A-Z_]+=\S+ )(?:\$ )?(?:\S*/)?webrag (?P<words>[^|&;#)]+)")
_MOST_PICTURE_BYTES = 150_000
_PREFIXES = ("WEBRAG", "EMBEDDING", "MCP", "ANSWER", "RETRIEVAL", "RERANKER", "ORCHESTRATION", "DATABASE", "FIRECRAWL")
_OTHER_VARIABLES = {"WEBRAG_ENV_FILE", "WEBRAG_PORT", *RENAMED}


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


@pytest.fixture(scope="module")
def group() -> TyperGroup:
    return command_line()


@pytest.mark.parametrize("name", NAMES)
def test_commands_and_their_options_exist(name: str, group: TyperGroup) -> None:
    for words in _calls(name, group):
        assert _problem(words, group) is None, f"webrag {' '.join(words)}"


def _calls(name: str, group: TyperGroup) -> Iterator[list[str]]:
    """Words after `webrag` of every command on this page; also of pieces of code such as `ask QUESTION [--url U]`."""
    for line in code(REPOSITORY / name):
        for match in _COMMAND.finditer(line):
            yield _words(match["words"])
        first, *others = _words(line) or [""]
        if first in group.commands and any(word.startswith("--") for word in others):
            yield [first, *others]


def _words(text: str) -> list[str]:
    """Words of a command, without marks of what may be left out; a comment ends it."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError:  # a piece of output
        return []
    return [word.strip("[]") for word in words if word.strip("[]")]


def _problem(words: list[str], group: TyperGroup) -> str | None:
    """The first command or option that does not exist, or None. Words in capitals stand for something else."""
    command: TyperCommand | TyperGroup = group
    rest = iter(words)
    for word in rest:
        if re.match(r"--?[a-z]", word):
            name, _, value = word.partition("=")
            options = _options(command)
            if name not in options:
                return f"no option {word}"
            if options[name] and not value:
                next(rest, None)
        elif isinstance(command, TyperGroup):
            choices = word.split("|")
            if not all(re.fullmatch(r"[a-z-]+", choice) for choice in choices):
                return None  # `COMMAND`, `…`, the number of an answer
            if unknown := [choice for choice in choices if choice not in command.commands]:
                return f"no command {unknown[0]}"
            command = command.commands[choices[-1]]
    return None


def _options(command: TyperCommand | TyperGroup) -> dict[str, bool]:
    """Names of options, and whether each takes a value."""
    names = dict.fromkeys(("--help", "--install-completion", "--show-completion"), False)  # the latter of typer
    for parameter in command.params:
        takes_value = not getattr(parameter, "is_flag", False)
        names |= dict.fromkeys((*parameter.opts, *parameter.secondary_opts), takes_value)
    return names


def test_a_stale_command_is_noticed(group: TyperGroup) -> None:
    for stale in ("askk", "ask Why? --ulr x", "source ad", "feedback list --stat new"):
        assert _problem(_words(stale), group), stale
    for right in ("ask Why? --url=x", "source add|list", "feedback 12 --kind wrong", "COMMAND --help", "eval …"):
        assert _problem(_words(right), group) is None, right


@pytest.mark.parametrize("name", NAMES)
def test_targets_of_make_and_settings_exist(name: str) -> None:
    targets = set(re.findall(r"(?m)^([a-z][a-z-]*):", (REPOSITORY / "Makefile").read_text()))
    for line in code(REPOSITORY / name):
        for target in re.findall(r"(?:^|[;&(] *)make ([a-z][a-z-]*)(?![a-z…-])", line):
            assert target in targets, f"make {target}"
        for setting in re.findall(rf"\b(?:{'|'.join(_PREFIXES)})_[A-Z][A-Z_]*[A-Z]\b(?!_?\*)", line):
            assert setting.lower() in Settings.model_fields or setting in _OTHER_VARIABLES, setting
