# The server of a study as an image: docker build -t explorelab:0.1.0 .
# src/explorelab/study/operation/templates/compose.yaml runs it with PostgreSQL and Caddy; `explorelab study deploy` fills that in.

# The pages of the study, built with Node, of which nothing else is kept.
FROM node:22-bookworm-slim AS page
WORKDIR /build/page
COPY page/package.json page/package-lock.json page/.npmrc ./
RUN npm ci
COPY page ./
RUN npm run --silent build

# The package with all that it needs, in an environment that can be copied.
FROM python:3.12-slim-bookworm AS environment
WORKDIR /build
COPY pyproject.toml hatch_build.py constraints.txt README.md LICENSE ./
COPY src src
COPY --from=page /build/src/explorelab/study/static src/explorelab/study/static
RUN python -m venv /opt/explorelab
# The pages are there already, so the build is told not to make them.
RUN EXPLORELAB_WITHOUT_PAGE=1 /opt/explorelab/bin/pip install --no-cache-dir -c constraints.txt '.[postgresql]'
RUN cd / && /opt/explorelab/bin/python -c 'from explorelab.study.server.built_pages import check_built; check_built()'

FROM python:3.12-slim-bookworm
# pg_dump and pg_restore, for backups.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin explorelab
RUN install -d -m 700 -o explorelab -g explorelab /study /backups /cache
COPY --from=environment /opt/explorelab /opt/explorelab
ENV PATH=/opt/explorelab/bin:$PATH XDG_CACHE_HOME=/cache MPLCONFIGDIR=/cache/matplotlib PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /study
VOLUME ["/study", "/backups", "/cache"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=12s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/api/health', timeout=10)"]
ENTRYPOINT ["explorelab"]
CMD ["study", "serve", "/study", "--host=0.0.0.0"]
