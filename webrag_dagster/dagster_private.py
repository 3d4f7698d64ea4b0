"""The only imports of Dagster's private modules. tests/dagster/test_definitions.py names the version they were read in.

- `DagsterUserCodeProcessError`: the only error whose stack trace the UI leaves out.
- `CheckRunHealthResult`, `WorkerStatus`: what a run launcher answers to run monitoring; there is no public name.
- `ExecuteRunArgs`: the argument of `dagster api execute_run`, which executes a stored run in a process of its own.
- `ResolutionException`: what a template in a YAML file raises that names nothing.
- `WorkspaceProcessContext`, `WorkspaceFileTarget`: what `dagster-webserver` makes its application from.
"""

from dagster._core.errors import DagsterUserCodeProcessError
from dagster._core.launcher.base import CheckRunHealthResult, WorkerStatus
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster._grpc.types import ExecuteRunArgs
from dagster.components.resolved.errors import ResolutionException

__all__ = [
    "CheckRunHealthResult",
    "DagsterUserCodeProcessError",
    "ExecuteRunArgs",
    "ResolutionException",
    "WorkerStatus",
    "WorkspaceFileTarget",
    "WorkspaceProcessContext",
]
