"""Modules that an engine imports in place of torch and sentence-transformers, which take five seconds of a processor.

The fixture `light_model` puts this folder before theirs. All the rest of such an engine is real.
"""
