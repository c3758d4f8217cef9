"""Maintenance of memories: aging, trust, comparison, consolidation and distillation, as rules and jobs."""
