"""Let the clients of the engine in this process wait a minute for its answers, and for its end."""

from memento_tui.search import engine_client

for name in ("ANSWER", "PROBE", "STOP"):
    setattr(engine_client, f"_{name}_SECONDS", 60.0)
