"""Two steps that do not wait for each other."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_First = TypeVar("_First")
_Second = TypeVar("_Second")


async def beside(
    first: Coroutine[Any, Any, _First], second: Coroutine[Any, Any, _Second]
) -> tuple[_First, _Second]:
    """What both give. An error of one cancels the other, and is raised as if they had come in turn."""
    try:
        async with asyncio.TaskGroup() as group:
            doing = group.create_task(first), group.create_task(second)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return doing[0].result(), doing[1].result()
