"""Health check of the `code` container: exit status 0 when the code server answers. `python -m … HOST:PORT`."""

from __future__ import annotations

import sys

import grpc  # type: ignore[import-untyped]

_SECONDS_TO_ANSWER = 5


def answers(target: str) -> bool:
    """Whether the code server itself answers, not only the proxy before it, which lives on when the server is dead."""
    with grpc.insecure_channel(target) as channel:
        try:
            channel.unary_unary("/api.DagsterApi/Ping")(b"", timeout=_SECONDS_TO_ANSWER)
        except grpc.RpcError:
            return False
    return True


if __name__ == "__main__":
    sys.exit(not answers(sys.argv[1]))
