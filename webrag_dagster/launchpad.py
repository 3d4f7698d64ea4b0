"""Jobs that a person launches: their fields in the launchpad, one op, its result for the process of the run."""

import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

import dagster as dg
from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

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


def config_of(name: str, parameters: type[BaseModel], opens_with: Mapping[str, Any]) -> type[dg.Config]:
    """The fields of a launchpad for these parameters: all of them, with their words and without their bounds, which the
    core checks. Those in `opens_with` are filled in, all others hidden until somebody types them; unset = as the
    parameters say."""
    fields: dict[str, Any] = {
        field: (_type_of(about) | None, Field(default=opens_with.get(field), description=_words_of(about)))
        for field, about in parameters.model_fields.items()
    }
    return create_model(name, __base__=dg.Config, __doc__="Config for the launchpad.", **fields)


def given(config: dg.Config) -> dict[str, Any]:
    """What somebody filled in."""
    return {name: value for name, value in config.model_dump().items() if value is not None}


def _type_of(about: FieldInfo) -> Any:
    """What a launchpad takes for a parameter: a list of texts, a number, a truth value, or a text."""
    kinds = list(_leaves(about.annotation))
    if any(get_origin(kind) is tuple for kind in kinds):
        return list[str]
    return next((kind for kind in (bool, float, int) if kind in kinds), str)


def _words_of(about: FieldInfo) -> str:
    """The description of a parameter, with its choices and its default."""
    choices = [
        str(choice) for kind in _leaves(about.annotation) if get_origin(kind) is Literal for choice in get_args(kind)
    ]
    words = [about.description or "", ", ".join(choices)]
    if not about.is_required() and about.default not in (None, ()):
        words.append(f"unset = {about.default}")
    return ". ".join(filter(None, words))


def _leaves(annotation: Any) -> Iterator[Any]:
    """The types of a union, without what annotates them."""
    arguments = [annotation for annotation in get_args(annotation) if annotation is not type(None)]
    if hasattr(annotation, "__metadata__"):
        yield from _leaves(arguments[0])
    elif get_origin(annotation) in (tuple, Literal) or not arguments:
        yield annotation
    else:
        for argument in arguments:
            yield from _leaves(argument)


def question_tag(question: str) -> str:
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
