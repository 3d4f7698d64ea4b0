"""Run tests on every Python version that the package is for and this machine has: `make test-matrix`.

    python -m tests.matrix                    a quick subset on 3.11 to 3.14
    python -m tests.matrix --all 3.13         every test on one of them
    python -m tests.matrix 3.12 -- tests/cli  some tests

Each version has an environment of its own below .venv, with the hashed requirements of the tests. An interpreter that
is not here is reported and is no failure: none is downloaded.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
QUICK = (
    *("tests/conversion", "tests/indexing", "tests/language", "tests/orchestration", "tests/retrieval", "tests/store"),
    *("tests/mcp_server/test_tools.py", "tests/mcp_server/test_stdio.py", "tests/dagster/test_definitions.py"),
    *(
        "tests/providers/test_static_model.py",
        "tests/test_posix.py",
        "tests/test_public_names.py",
        "tests/test_trace.py",
    ),
)
_CLONE = Path(__file__).parents[1]
_BIN = Path(sys.executable).parent
_NO_TEST = 5  # pytest's exit code


def main() -> None:
    """Exit with 1 when tests fail on any version, or no version is here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", default=VERSIONS, help="unset = all")
    parser.add_argument("--all", action="store_true", help="every test")
    own, separator, paths = _split(sys.argv[1:])
    arguments = parser.parse_args(own)
    tests = paths if separator else () if arguments.all else QUICK
    outcomes = {version: _outcome(version, tests) for version in arguments.versions}
    sys.stdout.write("".join(f"Python {version}: {outcome}\n" for version, outcome in outcomes.items()))
    run = [outcome for outcome in outcomes.values() if outcome != _MISSING]
    sys.exit(not run or any(outcome != _PASSED for outcome in run))


_MISSING, _PASSED = "not here", "passed"


def _split(words: list[str]) -> tuple[list[str], bool, list[str]]:
    """Words before and after `--`, and whether there is one."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], "--" in words, words[at + 1 :]


def _outcome(version: str, tests: tuple[str, ...] | list[str]) -> str:
    interpreter = next(_interpreters(version), None)
    if interpreter is None:
        return _MISSING
    python = _environment(version, interpreter)
    done = subprocess.run([python, "-m", "pytest", "-n", "auto", "--dist", "loadfile", *tests], cwd=_CLONE, check=False)
    return {0: _PASSED, _NO_TEST: "no test ran"}.get(done.returncode, "failed")


def _interpreters(version: str) -> Iterator[Path]:
    """Interpreters of this version: the one that runs, those on the PATH, those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    found = (sys.executable, on_path, *(pyenv.glob(f"{version}.*/bin/python") if pyenv.is_dir() else ()))
    for path in filter(None, found):
        asked = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False)
        if said.returncode == 0 and said.stdout.strip() == version:  # a shim of pyenv may lead nowhere
            yield Path(path)


def _environment(version: str, interpreter: Path) -> Path:
    """Python of the environment of this version, up to date. Raises CalledProcessError."""
    if interpreter == Path(sys.executable):
        return interpreter
    environment = _CLONE / ".venv" / "matrix" / version
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([_BIN / "uv", "venv", "--quiet", "--python", interpreter, environment], check=True)
    install = (str(_BIN / "uv"), "pip", "install", "--quiet", "--python", str(python))
    for listed in ("requirements.txt", "requirements-dev.txt"):
        subprocess.run([*install, "--require-hashes", "-r", str(_CLONE / listed)], check=True)
    editable = [*install, "--no-deps", "--no-build-isolation", "--editable", str(_CLONE)]
    subprocess.run(editable, check=True)
    return python


if __name__ == "__main__":
    main()
