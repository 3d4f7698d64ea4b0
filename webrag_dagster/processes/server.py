"""Dagster's UI, daemon and code server on this machine, kept running, ending as one."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from pathlib import Path

from webrag_core.cli.output import err
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_dagster.instance import storage_folder, use_instance
from webrag_dagster.processes.code_service import LOCATION, code_service, settle
from webrag_dagster.processes.instance_lock import InstanceLock, hold
from webrag_dagster.processes.leftovers import TEMPORARY
from webrag_dagster.processes.record import HOST
from webrag_dagster.processes.services import Service
from webrag_dagster.processes.supervision import supervise


def serve(port: int, frozen_site: Path | None) -> int:
    """Serve until interrupted; returns the exit code. `frozen_site` is what runs read unless WEBRAG_WARC is set.

    Raises InvalidInputError for bad settings, a port in use, or an instance on which another one serves, StoreError
    when the database cannot be started.
    """
    with hold(storage_folder(use_instance()), port) as lock:
        return _serve(lock, port, frozen_site)


def _serve(lock: InstanceLock, port: int, frozen_site: Path | None) -> int:
    _require_free(port)
    settings = load_settings()
    if settings.webrag_warc is None and frozen_site is not None:
        os.environ["WEBRAG_WARC"] = str(frozen_site.resolve())
        settings = load_settings()
    if settings.database_url is None:
        from webrag_core.store.embedded import embedded_url

        embedded_url(settings.webrag_home)  # held here, so that no run waits for a server to start
    pages = f"the frozen site {settings.webrag_warc.name}" if settings.webrag_warc else "the live web"
    err.print(f"{lock.record.address}  pages come from {pages}; Ctrl-C ends it", markup=False, highlight=False)
    settle().wait()  # alone first: processes that open a new SQLite instance at the same time break it
    with tempfile.TemporaryDirectory(prefix=TEMPORARY) as name:
        folder = Path(name)
        # PYTHONSAFEPATH: what lies in the working directory must not stand in for a package
        return supervise(lock, folder, services(folder, port), {**os.environ, "PYTHONSAFEPATH": "1"})


def services(folder: Path, port: int) -> list[Service]:
    """Code server, UI and daemon, as in docker-compose.yml. `folder` is for the code server's socket: a short path."""
    socket_path, workspace = folder / "code", folder / "workspace.yaml"
    location = {"socket": str(socket_path), "location_name": LOCATION}
    workspace.write_text(json.dumps({"load_from": [{"grpc_server": location}]}), encoding="utf-8")
    python = (sys.executable, "-m")
    return [
        code_service(("-s", str(socket_path)), f"unix:{socket_path}"),
        Service("UI", (*python, "dagster_webserver", "-h", HOST, "-p", str(port), "-w", str(workspace))),
        Service("daemon", (*python, "webrag_dagster.processes.daemon", "-w", str(workspace))),
    ]


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise InvalidInputError(f"port {port} on {HOST} cannot be used: {error.strerror}; try --port") from error
