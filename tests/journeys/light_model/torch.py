"""As much of torch as is asked for before a model is loaded, by memento and by libraries that know torch."""

from __future__ import annotations

bfloat16 = float32 = "a number type"


class cpu:  # noqa: N801 - a module in torch
    @staticmethod
    def get_capabilities() -> dict[str, bool]:
        return {}


class distributed:  # noqa: N801 - as above
    @staticmethod
    def is_available() -> bool:
        return False


class Tensor:
    pass
