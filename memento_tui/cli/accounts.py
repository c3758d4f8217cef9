"""The command ``account``: list and revoke the accounts of HTTP clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import group, open_workspace
from memento_tui.cli.output import emit, for_each, format_time, safe, table

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace


@group(
    "account",
    invoke_without_command=True,
    short_help="List and revoke the accounts of HTTP clients.",
    examples="""
    memento account
    memento account revoke ana
    memento account revoke ana --json
    """,
)
@click.pass_context
def account(ctx: click.Context) -> None:
    """List and revoke the accounts that programs have made at `memento serve`. Without a command, list them.

    An account has a key of its own and sees its own memories alone, which are in the namespace accounts/NAME.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_accounts)


@account.command(
    "list",
    short_help="List the accounts.",
    examples="""
    memento account list
    memento account list --json
    """,
)
def list_accounts() -> None:
    """List the accounts in the order in which they were made, the revoked ones too."""
    with open_workspace() as workspace:
        rows = _account_rows(workspace)
    emit({"items": rows}, lambda: _accounts_table(rows))


def _account_rows(workspace: Workspace) -> list[dict[str, Any]]:
    from memento_tui.api.accounts import Accounts  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.model.filters import Under  # noqa: PLC0415 - as above
    from memento_tui.model.validation import ACCOUNTS_NAMESPACE  # noqa: PLC0415 - as above

    rows = []
    for one in Accounts(workspace.settings).list():
        namespace = f"{ACCOUNTS_NAMESPACE}/{one.name}"
        rows.append(
            {
                "name": one.name,
                "namespace": namespace,
                "memories": workspace.count(Under(namespace)),
                "created_at": one.created_at,
                "revoked_at": one.revoked_at or None,
            }
        )
    return rows


def _accounts_table(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return "There is no account: no program has signed up at memento serve."
    cells = [
        [
            safe(row["name"]),
            f"{row['memories']:,}",
            format_time(row["created_at"]),
            f"revoked {format_time(row['revoked_at'])}" if row["revoked_at"] else "valid",
        ]
        for row in rows
    ]
    return table(["NAME", "MEMORIES", "MADE", "KEY"], cells)


@account.command(
    "revoke",
    decides=True,
    short_help="Revoke the keys of accounts.",
    examples="""
    memento account revoke ana
    memento account revoke ana eve --json
    """,
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def revoke(names: tuple[str, ...]) -> None:
    """Revoke the keys of accounts: they open nothing from now on, at a running server too.

    Their memories stay. Nobody else gets their names.
    """
    from memento_tui.api.accounts import Accounts  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace() as workspace:
        accounts = Accounts(workspace.settings)

        def revoke_one(name: str) -> dict[str, Any]:
            return {"id": name, "status": "revoked", "revoked_at": accounts.revoke(name).revoked_at}

        for_each(names, revoke_one, lambda outcome: f"{safe(outcome['id'])}  revoked")


commands = {"account": account}
