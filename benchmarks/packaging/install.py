"""What `pip install webrag` and each extra bring: packages, megabytes and the time of an import.

The wheel of this clone goes into fresh virtual environments outside of it. Packages: distributions, webrag among them.
MB: all files in site-packages, beside them the bytecode that Python makes of them. Import: `import webrag_core` and its
main names, the fastest of several fresh processes; CPU seconds too, for a busy machine.

    python -m benchmarks.packaging.install             plain and every extra
    python -m benchmarks.packaging.install "" mcp      plain and one of them
    python -m benchmarks.packaging.install --largest 20 ""
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.packaging.wheel import CLONE, build_wheel
from webrag_core.cli.output import out, print_table

_IMPORT = (
    "import time; wall, cpu = time.perf_counter(), time.process_time(); import webrag_core;"
    " from webrag_core import Corpus, Manager, Question, search;"
    " print(time.perf_counter() - wall, time.process_time() - cpu)"
)
_NOT_FOR_USERS = ("build", "dev")
_MB = 1_000_000


def main() -> None:
    """Print one line for each installation."""
    extras = [name for name in _extras() if name not in _NOT_FOR_USERS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="*", help='"" is plain; unset = all', default=["", *extras])
    parser.add_argument(
        "--largest", type=int, default=0, metavar="N", help="name what takes the most room in the first"
    )
    parser.add_argument("--imports", type=int, default=9, help="fresh processes that import it; 9")
    parser.add_argument("--python", default=sys.executable, help="the interpreter; unset = this one")
    arguments = parser.parse_args()
    rows, largest = [], Counter[str]()
    with tempfile.TemporaryDirectory(prefix="webrag-install-") as folder:
        wheel = build_wheel(Path(folder))
        for number, extra in enumerate(arguments.extras):
            environment = Path(folder) / f"venv{number}"
            began = time.perf_counter()
            _install(environment, f"{wheel}[{extra}]" if extra else str(wheel), arguments.python)
            seconds = time.perf_counter() - began
            packages, sizes, bytecode = _contents(environment)
            wall, cpu = _import_seconds(environment, arguments.imports)
            largest = largest or sizes
            mb, compiled = sizes.total() / _MB, bytecode / _MB
            name = f"webrag[{extra}]" if extra else "webrag"
            rows.append((name, packages, f"{mb:.0f}", f"{compiled:.0f}", f"{wall:.2f}", f"{cpu:.2f}", f"{seconds:.0f}"))
        out.print(f"{wheel.name}: {wheel.stat().st_size:,} bytes; load {os.getloadavg()[0]:.1f}", highlight=False)
    print_table(("", "packages", "MB", "bytecode MB", "import s", "CPU s", "installed in s"), rows)
    if arguments.largest:
        print_table(
            ("largest", "MB"), [(name, f"{size / _MB:.1f}") for name, size in largest.most_common(arguments.largest)]
        )


def _extras() -> list[str]:
    return list(tomllib.loads((CLONE / "pyproject.toml").read_text())["project"]["optional-dependencies"])


def _install(environment: Path, requirement: str, python: str) -> None:
    """As pip does it: with bytecode, from the registry that is set up here. Raises CalledProcessError."""
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", python, environment], check=True, cwd=environment.parent)
    install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(environment / "bin" / "python")]
    subprocess.run([*install, requirement], check=True, cwd=environment.parent)


def _contents(environment: Path) -> tuple[int, Counter[str], int]:
    """Number of distributions, bytes by top-level name without bytecode, bytes of the bytecode."""
    [installed] = environment.glob("lib/python*/site-packages")
    sizes: Counter[str] = Counter()
    bytecode = 0
    for path in _files(installed):
        if path.suffix == ".pyc":
            bytecode += path.stat().st_size
        else:
            sizes[path.relative_to(installed).parts[0]] += path.stat().st_size
    return len(list(installed.glob("*.dist-info"))), sizes, bytecode


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _import_seconds(environment: Path, processes: int) -> tuple[float, float]:
    """The least wall-clock and CPU seconds of fresh processes."""
    python = environment / "bin" / "python"
    runs = []
    for _ in range(processes):
        done = subprocess.run(
            [python, "-I", "-c", _IMPORT], check=True, capture_output=True, text=True, cwd=environment
        )
        runs.append([float(part) for part in done.stdout.split()])
    return min(wall for wall, _ in runs), min(cpu for _, cpu in runs)


if __name__ == "__main__":
    main()
