# One image for every command. With nothing named it serves the page to ask on and the MCP server, on port 8765; every
# address beyond this machine needs a token and the names by which browsers and clients reach it (docs/mcp.md):
#   docker build --tag webrag .
#   docker run --init --publish 127.0.0.1:8765:8765 --volume webrag:/opt/dagster/webrag \
#     --env MCP_AUTH_TOKEN=... --env MCP_ALLOWED_HOSTS=127.0.0.1:8765 webrag
# `webrag up` listens on the container's own loopback: `docker run --init --network host --no-healthcheck webrag webrag up`.
# The platform as services is docker-compose.yml, which builds this image too.
FROM python:3.11-slim AS build
WORKDIR /opt/webrag
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH VIRTUAL_ENV=/opt/venv
COPY requirements.txt requirements-uv.txt ./
# uv as in the Makefile: pip takes `gql[requests]`, which Dagster asks for, to have no hash
RUN pip install --no-cache-dir --require-hashes -r requirements-uv.txt \
 && uv pip install --no-cache --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE NOTICE dagster.yaml webrag.py ./
COPY webrag_core webrag_core
COPY webrag_dagster webrag_dagster
COPY evals evals
RUN uv pip install --no-cache --no-deps --no-build-isolation --editable .

FROM python:3.11-slim
RUN useradd --create-home --uid 1000 webrag \
 && mkdir -p /opt/dagster/logs /opt/dagster/webrag \
 && chown -R webrag /opt/dagster
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/webrag /opt/webrag
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 WEBRAG_HOME=/opt/dagster/webrag
WORKDIR /opt/dagster/webrag
USER 1000
EXPOSE 8765
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/health')"]
CMD ["webrag", "serve", "--host", "0.0.0.0"]
