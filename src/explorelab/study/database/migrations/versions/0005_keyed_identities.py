"""Identities keyed with the study's secret: a plain hash of a platform ID can be tested against a list of IDs."""

import hmac
import secrets
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Key the existing hashes, which needs nobody's ID."""
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT id, identity FROM people")).all()
    if not rows:
        return
    secret = connection.execute(sa.text("SELECT value FROM settings WHERE name = 'secret'")).scalar()
    if secret is None:
        secret = secrets.token_hex(32)
        connection.execute(sa.text("INSERT INTO settings (name, value) VALUES ('secret', :value)"), {"value": secret})
    keyed = [
        {"row": row.id, "new": hmac.new(bytes.fromhex(secret), b"identity:" + row.identity.encode(), sha256).hexdigest()}
        for row in rows
    ]
    connection.execute(sa.text("UPDATE people SET identity = :new WHERE id = :row"), keyed)


def downgrade() -> None:
    """Keyed hashes stay keyed, so everyone would count as new."""
