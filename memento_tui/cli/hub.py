"""The command ``hub``: share the memory with other machines through a PostgreSQL database."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memento_tui import clock
from memento_tui.cli.command import current_session, group, open_workspace
from memento_tui.cli.interaction import confirm, stop_on_signals
from memento_tui.cli.output import count_of, emit, format_fields, format_time, note, safe, table, write
from memento_tui.errors import NotAllowed

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.hub_session import HubMembership
    from memento_tui.hub.membership import Invitation, Revocation
    from memento_tui.hub.server import HubMember
    from memento_tui.hub.sync import RoundReport


@group(
    "hub",
    invoke_without_command=True,
    short_help="Share the memory with your other machines and your team.",
    examples="""
    memento hub init postgresql://ana@db.example.org/memento --share projects/site
    memento hub join postgresql://ana@db.example.org/memento --share projects/site
    memento hub status
    memento hub sync
    """,
)
@click.pass_context
def hub(ctx: click.Context) -> None:
    """Share chosen namespaces with other machines through a PostgreSQL database. Without a command, show the status.

    Every machine stays complete and works without the hub. What two machines change in the same field waits as a card
    in `memento review`; where the fields differ both hold. What another member's agent wrote passes this machine's
    gate as that agent's. A memory with the sensitivity `restricted` never leaves.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(status)


_name_option = click.option("--name", default="", metavar="NAME", help="What this machine is called; its own name.")
_share_option = click.option(
    "--share", "namespaces", multiple=True, metavar="NS", help="A namespace to share; give it again for another."
)


@hub.command(
    "init",
    decides=True,
    short_help="Begin a hub in a PostgreSQL database.",
    examples="""
    memento hub init postgresql://ana@db.example.org/memento --share projects/site
    memento hub init 'postgresql://ana@/memento?host=/run/postgresql' --name laptop
    """,
)
@click.argument("url", metavar="URL")
@_name_option
@_share_option
@click.option("--workspace", default="home", show_default=True, metavar="W", help="The name of the shared journal.")
def init(url: str, name: str, namespaces: tuple[str, ...], workspace: str) -> None:
    """Begin a hub in the PostgreSQL database at URL, and join it as its owner.

    The password comes from ~/.pgpass (or PGPASSFILE), or from the system's keyring (keyring set memento-hub
    LOGIN@HOST), never from the URL. Where the database is on another machine the connection is encrypted, and its name
    checked.
    """
    with _machine_hub(create=True) as machine:
        made = machine.begin(url, workspace=workspace, name=name or _machine_name(), namespaces=namespaces)
    emit(_membership_object(made), lambda: _joined_text(made, "You own the hub"))


@hub.command(
    "join",
    decides=True,
    short_help="Join a hub.",
    examples="""
    memento hub join postgresql://ana@db.example.org/memento --share projects/site
    memento hub join postgresql://eve@db.example.org/memento --workspace team --name desktop
    """,
)
@click.argument("url", metavar="URL")
@_name_option
@_share_option
@click.option("--workspace", default="", metavar="W", help="The shared journal, where the hub has several.")
def join(url: str, name: str, namespaces: tuple[str, ...], workspace: str) -> None:
    """Join the hub at URL. What the login may do there, the hub's owner said: memento hub invite.

    The password comes from where `memento hub init` takes it.

    A machine that left joins again under another name: what it signed before stays in its former one.
    """
    with _machine_hub(create=True) as machine:
        made = machine.join(url, workspace=workspace, name=name or _machine_name(), namespaces=namespaces)
    emit(_membership_object(made), lambda: _joined_text(made, f"You are in the hub as {made.role}"))


@hub.command(
    "status",
    short_help="Show what is shared, and whether the hub answers.",
    examples="""
    memento hub status
    memento hub status --json
    """,
)
def status() -> None:
    """Show what this machine shares, what waits to be sent, whether the hub answers, and what you have not read yet.

    A note says, for example, that somebody else decided a proposal first.
    """
    with _machine_hub() as machine:
        membership = machine.membership
        if membership is None:
            emit({"joined": False}, lambda: "This workspace is in no hub. Begin one: memento hub init URL.")
            return
        waiting, problem = machine.waiting(), machine.problem()
        session = current_session()
        if membership.notes and not session.as_json and not session.read_only and session.author.actor == "person":
            machine.notes_read()
    state = {"waiting": waiting, "problem": problem or None, "notes": list(membership.notes)}
    emit(
        {"joined": True, **_membership_object(membership), **state}, lambda: _status_text(membership, waiting, problem)
    )


@hub.command(
    "sync",
    writes=True,
    short_help="Bring this machine and the hub together once.",
    examples="""
    memento hub sync
    memento hub sync --json
    """,
)
def sync() -> None:
    """Take in what the hub has, send what was written here, and end."""
    from memento_tui.hub.sync import HubLink  # noqa: PLC0415 - a command's help is shown without it

    with _open() as workspace:
        link = HubLink(workspace)
        try:
            report = link.synchronize()
        finally:
            link.close()
    emit(msgspec.to_builtins(report), lambda: _report_text(report))


@hub.command(
    "resume",
    decides=True,
    writes=True,
    short_help="Go on with a hub that was restored from a backup.",
    examples="""
    memento hub resume
    """,
)
def resume() -> None:
    """Give a hub that was restored from an older backup what it has lost, and go on with it.

    Each machine that `memento hub sync` told of it does so; what several have is sent once.
    """
    from memento_tui.hub.sync import HubLink  # noqa: PLC0415 - a command's help is shown without it

    with _open() as workspace:
        link = HubLink(workspace)
        try:
            report = link.resume()
        finally:
            link.close()
    emit(msgspec.to_builtins(report), lambda: _report_text(report))


@hub.command(
    "run",
    writes=True,
    short_help="Keep this machine and the hub together until ctrl+c.",
    examples="""
    memento hub run
    """,
)
def run() -> None:
    """Bring this machine and the hub together whenever either side has written, until ctrl+c.

    The app and the engine do the same while they live.
    """
    if current_session().as_json:
        raise click.UsageError("--json prints one value at the end, and this command has none.")
    from memento_tui.hub.sync import HubLink, keep_in_step  # noqa: PLC0415 - as above

    def tell(report: RoundReport) -> None:
        write(f"{clock.now().astimezone():%H:%M:%S}  {_report_text(report)}\n")

    with _open() as workspace, stop_on_signals(signal.SIGINT, signal.SIGTERM) as stopping:
        link = HubLink(workspace)
        if not link.has_part:
            raise NotAllowed("This workspace is in no hub.", "Join one: memento hub join URL.")
        write("In step with the hub until ctrl+c.\n")
        keep_in_step(link, stopping, done=tell, failed=lambda error: note(safe(str(error))))
        link.close()


@hub.command(
    "share",
    decides=True,
    short_help="Share further namespaces, or stop sharing some.",
    examples="""
    memento hub share projects/site projects/api
    memento hub share --stop projects/site
    """,
)
@click.argument("namespaces", nargs=-1, required=True, metavar="NS...")
@click.option("--stop", is_flag=True, help="Share them no longer; what others have of them stays with them.")
def share(namespaces: tuple[str, ...], *, stop: bool) -> None:
    """Share namespaces, each with all below it; `memento hub sync` then brings both sides together."""
    with _machine_hub() as machine:
        changed = machine.keep(namespaces) if stop else machine.share(namespaces)
    shared = ", ".join(changed.namespaces) or "nothing"
    emit(_membership_object(changed), lambda: safe(f"Shared: {shared}."))


@hub.command(
    "hold",
    decides=True,
    short_help="Decide yourself about what other members write.",
    examples="""
    memento hub hold projects/site
    memento hub hold --stop projects/site
    """,
)
@click.argument("namespaces", nargs=-1, required=True, metavar="NS...")
@click.option("--stop", is_flag=True, help="Let it in again as your rules say.")
def hold(namespaces: tuple[str, ...], *, stop: bool) -> None:
    """Let what other members write in shared namespaces wait in Review on this machine, persons' writes as agents'.

    Each machine says so for itself. What came before stays as it is.
    """
    with _machine_hub() as machine:
        changed = machine.hold(namespaces, stops=stop)
    emit(_membership_object(changed), lambda: safe(f"Others' writes wait in: {', '.join(changed.held) or 'none'}."))


@hub.command(
    "compact",
    writes=True,
    short_help="Join the small files of shared vectors.",
    examples="""
    memento hub compact
    """,
)
def compact() -> None:
    """Join the small files of the vectors that machines share on object storage (`engine.shared_vectors`).

    One machine does so at a time, under a lock at the hub. While machines are in step it is done every three hours.
    """
    from memento_tui.hub.vectors import compact_vectors  # noqa: PLC0415 - an extra, which most do without

    with _open() as workspace:
        done = compact_vectors(workspace)
    text = f"{count_of(done.vectors, 'vector')} in {count_of(done.files, 'file')}, before in {done.files_before:,}."
    emit(done._asdict(), lambda: safe(text))


@hub.command(
    "members",
    short_help="List the machines of the hub.",
    examples="""
    memento hub members
    memento hub members --json
    """,
)
def members() -> None:
    """List the machines that take part in the hub, and those that did."""
    with _machine_hub() as machine:
        found = machine.members()
    rows = [
        {
            "name": one.name,
            "role": one.role,
            "login": one.login,
            "joined_at": one.joined_at,
            "revoked_at": one.revoked_at or None,
        }
        for one in found
    ]
    emit({"items": rows}, lambda: _members_table(found))


@hub.command(
    "invite",
    decides=True,
    short_help="Make a login of the hub for somebody.",
    examples="""
    memento hub invite eve --role reviewer
    memento hub invite ci --role agent --json
    """,
)
@click.argument("login", metavar="LOGIN")
@click.option(
    "--role",
    type=click.Choice(["reader", "agent", "reviewer", "owner"]),
    default="reviewer",
    show_default=True,
    help="What the login may do.",
)
def invite(login: str, role: str) -> None:
    """Make a login of the hub's PostgreSQL with a password, which is shown once; or give a login another role.

    Give each machine a login of its own: what one may read and give can then be ended without the others.

    A reader gives nothing. An agent gives what agents write and cannot append a decision, whatever program sends it. A
    reviewer gives decisions too, and an owner also invites and revokes.
    """
    with _machine_hub() as machine:
        made = machine.invite(login, role)
    shown = {"login": made.login, "role": made.role, "password": made.password or None, "url": made.url}
    emit(shown, lambda: safe(_invited_text(made), multiline=True))


@hub.command(
    "revoke",
    decides=True,
    short_help="End another machine's part in the hub.",
    examples="""
    memento hub revoke old-laptop
    memento hub revoke old-laptop --login
    """,
)
@click.argument("name", metavar="NAME")
@click.option("--login", "with_login", is_flag=True, help="End its login, with every machine that uses it.")
def revoke(name: str, *, with_login: bool) -> None:
    """End a machine's part: it gives nothing more. What it has, it keeps.

    Reading belongs to the login: it ends with the last machine that uses it, or at once with --login. `memento hub
    invite LOGIN` lets a login in again.
    """
    with _machine_hub() as machine:
        ended = machine.revoke(name, with_login=with_login)
    shown = {
        "name": name,
        "status": "revoked",
        "names": list(ended.names),
        "login": ended.login,
        "login_ended": ended.is_login_ended,
        "others": list(ended.others),
    }
    emit(shown, lambda: safe(_revoked_text(ended), multiline=True))


@hub.command(
    "leave",
    decides=True,
    short_help="End this machine's part in the hub.",
    examples="""
    memento hub leave
    memento hub leave --yes
    """,
)
@click.option("--yes", is_flag=True, help="Leave without being asked.")
def leave(*, yes: bool) -> None:
    """End this machine's part in the hub. Everything that it has stays, what came from others too.

    A hub that does not answer is left all the same.
    """
    with _machine_hub() as machine:
        waiting = machine.waiting() if machine.membership else 0
        stays = f"; {count_of(waiting, 'entry', 'entries')} not sent yet will stay here only" if waiting else ""
        confirm(
            f"Leave the hub{stays}",
            yes=yes,
            unasked="Nobody can be asked whether to leave the hub.",
            declined="This machine is still in the hub.",
        )
        left = machine.leave()
    name, hub_name = left.membership.name, left.membership.workspace_name
    untold = f"\nThe hub was not told: {left.untold} An owner can: memento hub revoke {name}." if left.untold else ""
    emit(
        {"name": name, "status": "left", "untold": left.untold or None},
        lambda: safe(f"{name} has left the hub {hub_name}.{untold}", multiline=True),
    )


# Parts


def _open(*, create: bool = False) -> Any:  # noqa: ANN401 - the context manager of a workspace
    from memento_tui.hub import require_extra  # noqa: PLC0415 - a command's help is shown without it

    require_extra()
    return open_workspace(create=create)


class _OpenHub:
    """The person's part in the hub for the length of a block."""

    def __init__(self, *, create: bool) -> None:
        self._opened = _open(create=create)

    def __enter__(self) -> Any:  # noqa: ANN401 - `memento_tui.hub.membership.MachineHub`
        from memento_tui.hub.membership import MachineHub  # noqa: PLC0415 - a command's help is shown without it

        return MachineHub(self._opened.__enter__())

    def __exit__(self, *error: object) -> Any:  # noqa: ANN401 - the answer of the workspace
        return self._opened.__exit__(*error)


def _machine_hub(*, create: bool = False) -> _OpenHub:
    return _OpenHub(create=create)


def _machine_name() -> str:
    from memento_tui.hub.membership import machine_name  # noqa: PLC0415 - as above

    return machine_name()


def _membership_object(membership: HubMembership) -> dict[str, Any]:
    return {
        "url": membership.url,
        "workspace": membership.workspace_name,
        "name": membership.name,
        "role": membership.role,
        "namespaces": list(membership.namespaces),
        "held": list(membership.held),
        "synced_at": membership.synced_at or None,
    }


def _joined_text(membership: HubMembership, said: str) -> str:
    shared = ", ".join(membership.namespaces)
    after = f"It shares {shared}. Next: memento hub sync." if shared else "Nothing is shared yet: memento hub share NS."
    return safe(f"{said}; this machine is called {membership.name}. {after}")


def _status_text(membership: HubMembership, waiting: int, problem: str) -> str:
    fields = {
        "hub": f"{membership.workspace_name} at {membership.url}",
        "this machine": f"{membership.name}, {membership.role}",
        "shared": ", ".join(membership.namespaces) or "nothing",
        **({"waits for you": f"what others write in {', '.join(membership.held)}"} if membership.held else {}),
        "in step": format_time(membership.synced_at) if membership.synced_at else "not yet",
        "to be sent": count_of(waiting, "entry", "entries"),
        "problem": problem or "none",
    }
    return "\n".join([format_fields(fields), *map(safe, membership.notes)])


def _report_text(report: RoundReport) -> str:
    said = [f"took in {count_of(report.pulled, 'entry', 'entries')}, sent {report.pushed:,}"]
    if report.cards:
        said.append(f"{count_of(report.cards, 'change')} for you: memento review")
    return safe("\n".join(["; ".join(said), *report.notes]))


def _invited_text(made: Invitation) -> str:
    said = f"{made.login} may take part as {made.role}."
    if not made.password:
        return said
    return (
        f"{said}\nIts password, shown once: {made.password}\n"
        f"On its machine, put that into ~/.pgpass (HOST:PORT:DATABASE:{made.login}:PASSWORD, mode 600) or the system's"
        f" keyring (keyring set memento-hub {made.login}@HOST), then:\n"
        f"memento hub join '{made.url}' --share NS"
    )


def _revoked_text(ended: Revocation) -> str:
    takes = "takes" if len(ended.names) == 1 else "take"
    said = f"{', '.join(ended.names)} {takes} no part any more."
    if ended.is_login_ended:
        return f"{said} The login {ended.login} reads nothing more."
    next_step = f"memento hub revoke {ended.names[0]} --login."
    if ended.is_own_login:
        next_step = f"change the password of {ended.login} in PostgreSQL, and give each machine a login of its own."
    return (
        f"{said}\nIts login {ended.login} is also that of {', '.join(ended.others)}: whoever has its password still"
        f" reads the hub and can join again.\nTo end that: {next_step}"
    )


def _members_table(found: list[HubMember]) -> str:
    cells = [
        [
            safe(one.name),
            one.role,
            safe(one.login),
            format_time(one.joined_at),
            f"revoked {format_time(one.revoked_at)}" if one.revoked_at else "",
        ]
        for one in found
    ]
    return table(["NAME", "ROLE", "LOGIN", "JOINED", ""], cells)


commands = {"hub": hub}
