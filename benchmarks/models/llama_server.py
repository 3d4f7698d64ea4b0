"""A llama.cpp server of one GGUF file on 127.0.0.1, as a process of its own: its address is its first line of output.

    python -m benchmarks.models.llama_server FILE.gguf [--embeddings]

Needs the package of requirements-model.txt, which is a test aid and no dependency.
"""

from __future__ import annotations

import argparse
import signal

CONTEXT_TOKENS = 8192


def main() -> None:
    """Command line entry; serves until it is terminated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--embeddings", action="store_true", help="serve vectors (means of tokens) instead of chats")
    arguments = parser.parse_args()

    import xllamacpp  # type: ignore[import-untyped, import-not-found, unused-ignore]

    params = xllamacpp.CommonParams()
    params.model.path = arguments.model
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.port = 0
    params.verbosity = 0
    if arguments.embeddings:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        params.n_batch = params.n_ubatch = CONTEXT_TOKENS
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
