"""A certificate that nobody vouches for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def self_signed(folder: Path, host: str) -> tuple[Path, Path]:
    """Paths of a certificate for `host` and of its key. Skips the test where the command that makes them is missing."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command makes the certificate")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    options = ["-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *options, *files], check=True, capture_output=True)
    return certificate, key
