"""Make the daily backup, before anything else is done that day."""

from __future__ import annotations

from datetime import timedelta

from memento_tui.errors import DataDirectoryError, NotAllowed
from memento_tui.maintenance.context import MaintenanceContext
from memento_tui.storage.backup_folder import BackupFolder
from memento_tui.storage.database import StoppedError

__all__ = ["back_up", "is_backup_due"]

_DAILY = timedelta(hours=20)
"""Between two daily backups; less than a day, as maintenance runs at whatever hour somebody is there."""


def back_up(context: MaintenanceContext) -> None:
    """Make the daily backup where it is due, checked, and remove those that need not stay."""
    if context.dry_run or not context.config.maintenance.backups:
        return
    folder = BackupFolder(context.paths)
    try:
        if not is_backup_due(context):
            return
        with folder.locked(), context.store.database.reading() as source:
            made = folder.add(source, "daily", checked=True, progress=context.report_progress, stop=context.stopping)
            if problem := folder.rotate("daily"):
                context.problems.append(problem)
    except StoppedError:
        return  # the run ends
    except (DataDirectoryError, NotAllowed) as error:
        context.backup_problem = error.message
        context.problems.append(f"The daily backup could not be made: {error}")
        return
    except OSError as error:
        context.backup_problem = f"The folder of the backups cannot be read: {error.strerror}."
        context.problems.append(f"The daily backup could not be made. {context.backup_problem}")
        return
    context.backup = made.name


def is_backup_due(context: MaintenanceContext) -> bool:
    """Tell whether something changed since the newest backup, and the last daily one was made a day ago."""
    folder = BackupFolder(context.paths)
    daily = next((one.at for one in folder.list() if one.why == "daily" and not one.problem), None)
    if daily is not None and timedelta() <= context.now - daily < _DAILY:
        return False
    return folder.is_behind(context.store.journal)
