"""The token of the home is made once, for its user alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from webrag_core.access_token import SERVE_TOKEN, local_token
from webrag_core.errors import InvalidInputError


def test_a_token_is_made_once_and_closed_to_others(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = local_token(home, SERVE_TOKEN).get_secret_value()
    assert len(token) >= 40
    assert local_token(home, SERVE_TOKEN).get_secret_value() == token
    assert stat.S_IMODE((home / SERVE_TOKEN).stat().st_mode) == 0o600
    assert [file.name for file in home.iterdir()] == [SERVE_TOKEN]


@pytest.mark.parametrize("kind", ["readable", "link", "foreign", "empty", "folder", "fifo", "short"])
def test_a_file_that_others_may_have_made_is_refused(kind: str, tmp_path: Path) -> None:
    home, file = tmp_path, tmp_path / SERVE_TOKEN
    text = "" if kind == "empty" else "short" if kind == "short" else "x" * 43
    if kind == "folder":
        file.mkdir(0o700)
    elif kind == "fifo":
        os.mkfifo(file, 0o600)
    elif kind == "link":
        other = tmp_path / "other"
        other.touch(0o600)
        other.write_text(text)
        file.symlink_to(other)
    else:
        file.touch(0o600)
        file.write_text(text)
        if kind == "readable":
            file.chmod(0o640)
        elif kind == "foreign":
            if os.geteuid():
                pytest.skip("only root can give a file away")
            os.chown(file, 65534, -1)
    with pytest.raises(InvalidInputError, match=SERVE_TOKEN):
        local_token(home, SERVE_TOKEN)


def test_a_folder_that_cannot_be_written_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(InvalidInputError, match="WEBRAG_SERVE_OPEN"):
        local_token(tmp_path / "home", SERVE_TOKEN)
