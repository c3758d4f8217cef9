"""Distillation: find memories, skips and working items in a transcript."""
