"""Generated requests to every endpoint of REST, valid ones and broken ones, against a live server.

`python -m benchmarks.security.rest_cases` serves the hostile site and lets Schemathesis (in an environment of its own,
which `uv` makes) read `/api/openapi.json`: no request may be answered with a server error, a status or a body that the
description does not have, and no broken request may be taken. Its report and exit status are those of this program.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import httpx2

from benchmarks.security.web_markup import SITE
from benchmarks.security.web_pages import serving
from webrag_core.cli.output import complain
from webrag_core.store.embedded import embedded_url

_PROGRAM = "schemathesis==4.32.5"
_CASES = "15"  # of each endpoint and phase
_CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    ",negative_data_rejection"
)


def main() -> None:
    """Serve, generate, report."""
    uv = str(Path(sys.executable).with_name("uv"))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        with serving(embedded_url(Path(folder)), log, MCP_LOG_LEVEL="ERROR") as (port, _):
            base = f"http://127.0.0.1:{port}/api"
            body = {"question": "What raises an alert?", "urls": [f"{SITE}/p1"]}
            httpx2.post(f"{base}/ask", json=body, timeout=120).raise_for_status()
            command = [uv, "tool", "run", "--quiet", "--from", _PROGRAM, "st", "run", f"{base}/openapi.json"]
            options = ["--max-examples", _CASES, "--checks", _CHECKS, "--request-timeout", "30"]
            status = subprocess.run([*command, *options], check=False, cwd=folder).returncode
        failures = log.read_text(encoding="utf-8", errors="replace").count("Traceback")
    if failures:
        complain(f"{failures} tracebacks in the server's log")
    raise SystemExit(status or (1 if failures else 0))


if __name__ == "__main__":
    main()
