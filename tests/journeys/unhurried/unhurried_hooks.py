"""Give memento-hook in this process a minute for each answer, and to wait for whoever writes to the database."""

from memento_tui.hooks import main
from memento_tui.storage.hook_store import HookStore

SECONDS = 60.0

main._ANSWER_SECONDS = dict.fromkeys(main._ANSWER_SECONDS, SECONDS)
main._MAX_ANSWER_SECONDS = SECONDS
HookStore.__init__.__kwdefaults__ = {"busy_seconds": SECONDS}
