"""The program ``memento-hook``, which an agent's host calls at fixed moments of a session.

Modules of this package that run inside the host's time limit import the standard library and Tantivy only;
`memento_tui.hooks.transcript_worker` runs detached and may import anything.
"""
