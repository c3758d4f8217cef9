"""Modules for the programs that a journey starts, where a busy machine must not change what they answer.

In the PYTHONPATH of a process this folder gives the hooks that it starts a minute for each answer; the program as it
is ends a call that takes seconds, as any may on a busy machine.
"""
