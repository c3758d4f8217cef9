"""Modules for the programs that a journey starts, where a busy machine must not change what they answer.

In the PYTHONPATH of a process, as the fixture `unhurried` puts it there, this folder gives the hooks and the clients of
the engine in it a minute for each answer. The programs as they are give up after a moment, as any may need there.
"""
