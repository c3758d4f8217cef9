"""The version, in one place that everything may import."""

__all__ = ["__version__"]

__version__ = "0.1.0"
