"""Jobs that a person launches: their fields in the launchpad, one op, its result for the process of the run."""

import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import dagster as dg
from pydantic import BaseModel

from webrag_dagster.resources import CorpusResource
from webrag_dagster.running import run_once

Fields = TypeVar("Fields", bound=dg.Config)

_QUERY_CHARS = 60


def launchpad_job(
    name: str,
    config: type[Fields],
    work: Callable[[dg.OpExecutionContext, Fields, CorpusResource], Coroutine[Any, Any, BaseModel]],
    *,
    op: str,
    does: str,
    result: str,
    description: str,
    tags: Mapping[str, str] | None = None,
    pool: str | None = None,
) -> dg.JobDefinition:
    """A job of one op, `op`, that runs `work` once, never again: a retry could report or store the same twice.

    `does` describes the op, `result` what it returns, as JSON, to `execute_in_process`. The fields of `config` open the
    launchpad. Their bounds are checked by the core: a bound there would be an HTTP 500 at launch.
    """
    schema = config.to_config_schema().as_field()

    def in_launchpad(fields: Mapping[str, Any]) -> dict[str, Any]:
        # Dagster uses a job's logger only if the config names it
        return {"ops": {op: {"config": fields}}, "loggers": {"console": {"config": {}}}}

    @dg.op(
        name=op,
        description=does,
        config_schema=schema,
        required_resource_keys={"corpus"},
        out=dg.Out(dict, io_manager_key="result_of_run", description=result),
        pool=pool,
    )
    def launched_op(context: dg.OpExecutionContext) -> dict[str, Any]:
        fields = config(**context.op_config)
        return run_once(context, work(context, fields, context.resources.corpus)).model_dump(mode="json")

    @dg.job(
        name=name,
        config=dg.ConfigMapping(in_launchpad, config_schema=schema),
        executor_def=dg.in_process_executor,
        logger_defs={"console": console},
        tags={"dagster/max_retries": "0", **(tags or {})},
        description=description,
    )
    def launched_job() -> None:
        launched_op()

    return launched_job


def query_tag(question: str) -> str:
    """The first characters of a question on one line, for the list of runs."""
    return " ".join(question.split())[:_QUERY_CHARS]


class _Plain(logging.Formatter):
    """Format time and message. Of an exception only its type and text: the event log has the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        meta = getattr(record, "dagster_meta", {})
        text = meta.get("orig_message") if record.levelno < logging.ERROR else None
        text = text or record.getMessage().split("\nStack Trace:", 1)[0]
        return f"{self.formatTime(record, '%H:%M:%S')}  {text.strip()}"


@dg.logger(None, description="Messages of the run on stderr; the event log has everything.")
def console(_: dg.InitLoggerContext) -> logging.Logger:
    """The logger of the runs that a person launches."""
    logger = logging.Logger("webrag.run", level=logging.INFO)
    handler = logging.StreamHandler()
    handler.setFormatter(_Plain())
    logger.addHandler(handler)
    return logger
