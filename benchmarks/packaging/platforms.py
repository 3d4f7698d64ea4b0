"""Where the plain installation has wheels for everything, by the registry's own lists of files.

Each system and Python version is resolved once with sources forbidden; nothing is installed, and nothing is run there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.packaging.wheel import build_wheel
from webrag_core.cli.output import print_table

_SYSTEMS = (
    ("Linux, glibc 2.28 or newer, x86-64", "x86_64-manylinux_2_28", None),
    ("Linux, glibc 2.28 or newer, ARM", "aarch64-manylinux_2_28", None),
    ("Linux, musl (Alpine), x86-64", "x86_64-unknown-linux-musl", None),
    ("macOS 14, Apple silicon", "aarch64-apple-darwin", "14.0"),
    ("macOS 15 or newer, Apple silicon", "aarch64-apple-darwin", "15.0"),
    ("macOS 15 or newer, Intel", "x86_64-apple-darwin", "15.0"),
    ("Windows, x86-64", "x86_64-pc-windows-msvc", None),
)
_VERSIONS = ("3.11", "3.12", "3.13", "3.14")
_WITHOUT = re.compile(r"Because (?:only )?([a-z0-9-]+)(?=[<>=,]| has)")


def main() -> None:
    """Print a table of systems and Python versions: ok, or the first package without a wheel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", help="an extra of the package; unset = plain")
    extra = parser.parse_args().extra
    with tempfile.TemporaryDirectory(prefix="webrag-platforms-") as folder:
        wheel = build_wheel(Path(folder))
        requirement = f"webrag{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
        rows = [
            (name, *(_missing(requirement, platform, oldest, version) or "ok" for version in _VERSIONS))
            for name, platform, oldest in _SYSTEMS
        ]
    print_table(("", *_VERSIONS), rows)


def _missing(requirement: str, platform: str, oldest: str | None, version: str) -> str:
    """Name of a package without a wheel there; "" where all have one."""
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("uv"), "pip", "compile", "--quiet", "--no-header", "-"),
            *("--only-binary", ":all:", "--python-platform", platform, "--python-version", version),
        ],
        input=requirement,
        env={**os.environ, **({"MACOSX_DEPLOYMENT_TARGET": oldest} if oldest else {})},
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return ""
    named = _WITHOUT.search(done.stderr)
    return f"no wheel: {named[1]}" if named else done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    main()
