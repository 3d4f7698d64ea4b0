"""`webrag ui`: Dagster's web server behind the guard. The command `dagster-webserver` has none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import uvicorn
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.applications import Starlette

from webrag_core.config import Settings
from webrag_core.http_guard import require_free
from webrag_core.store.embedded import exit_on_sigterm
from webrag_dagster.dagster_private import WorkspaceFileTarget, WorkspaceProcessContext
from webrag_dagster.processes.ui_guard import accepted_hosts, guarded
from webrag_dagster.processes.ui_pages import WithPages

# as `dagster-webserver` sets them
_STATEMENT_MILLISECONDS, _POOL_RECYCLE_SECONDS, _POOL_OVERFLOW, _POLL_MILLISECONDS = 15_000, 3_600, 20, 2_000
_SHUTDOWN_SECONDS = 5


@contextmanager
def dagster_app(instance: dg.DagsterInstance, workspace: Path) -> Iterator[Starlette]:
    """Dagster's application, unguarded, for the code locations of a workspace.yaml."""
    instance.optimize_for_webserver(_STATEMENT_MILLISECONDS, _POOL_RECYCLE_SECONDS, _POOL_OVERFLOW)
    target = WorkspaceFileTarget([str(workspace)])
    with WorkspaceProcessContext(instance, target, version=dg.__version__) as context:
        yield create_app_from_workspace_process_context(context, live_data_poll_rate=_POLL_MILLISECONDS)


def serve(settings: Settings, workspace: Path, host: str, port: int) -> None:
    """Serve the instance of DAGSTER_HOME until a signal. Raises InvalidInputError before anything listens."""
    hosts = accepted_hosts(settings, host)
    require_free(host, port)
    exit_on_sigterm()  # uvicorn raises the signal again when it is done
    with dg.DagsterInstance.get() as instance, dagster_app(instance, workspace) as app:
        uvicorn.run(
            guarded(WithPages(app, settings), hosts, settings.webrag_ui_token),
            host=host,
            port=port,
            log_level="warning",
            access_log=False,  # its lines would hold ?token=…
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
