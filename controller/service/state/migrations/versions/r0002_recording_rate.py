"""A request's recording rate has the name that it has in the specification of its run."""

import json

import sqlalchemy as sa
from alembic import op

revision = "r0002"
down_revision = "r0001"
branch_labels = None
depends_on = None

_OLD, _NEW = "record_hz", "recording_hz"


def upgrade() -> None:
    """Rename the field in stored requests."""
    _rename(_OLD, _NEW)


def downgrade() -> None:
    """Restore the former name."""
    _rename(_NEW, _OLD)


def _rename(old: str, new: str) -> None:
    connection = op.get_bind()
    for table, key, column in (("queue", "number", "request"), ("schedules", "name", "definition")):
        rows = sa.table(table, sa.column(key), sa.column(column))
        for identity, text in connection.execute(sa.select(rows.c[key], rows.c[column])).all():
            data = json.loads(text)
            request = data if column == "request" else data["request"]
            if old in request:
                request[new] = request.pop(old)
            change = sa.update(rows).where(rows.c[key] == identity)
            connection.execute(change.values({column: json.dumps(data)}))
