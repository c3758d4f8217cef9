"""What Python imports as it starts, from the first folder of its path that has one."""

import unhurried_engine  # type: ignore[import-not-found]  # noqa: F401 - importing it is all
import unhurried_hooks  # type: ignore[import-not-found]  # noqa: F401 - as above
