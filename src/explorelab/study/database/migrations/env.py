"""Runs migrations on the connection that `migrating.migrate` hands over."""

from alembic import context

from explorelab.study.database.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
