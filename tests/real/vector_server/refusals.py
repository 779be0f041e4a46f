"""What a call is refused with: the real server's status and words, or that this stand-in has no such thing."""

from collections.abc import Callable
from typing import Any

import grpc


class RefusalError(Exception):
    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def invalid(text: str) -> RefusalError:
    return RefusalError(grpc.StatusCode.INVALID_ARGUMENT, text)


def unknown(text: str) -> RefusalError:
    return RefusalError(grpc.StatusCode.NOT_FOUND, f"Not found: {text}")


def not_served(what: str) -> RefusalError:
    return RefusalError(grpc.StatusCode.UNIMPLEMENTED, f"the stand-in does not serve {what}")


def check_path(key: str) -> None:
    """A payload's field, with dots between the parts of its path."""
    if not all(key.split(".")):
        raise invalid(f"Invalid json path: '{key}'")


def answered(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any, grpc.ServicerContext], Any]:
    """A servicer's method that takes the request alone and raises what it refuses."""

    def call(servicer: Any, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(servicer, request)
        except RefusalError as refusal:
            context.abort(refusal.code, refusal.text)
        except Exception as exc:  # noqa: BLE001 the engine knows one kind of error
            context.abort(grpc.StatusCode.INTERNAL, f"Service internal error: {exc}")
        except BaseException as panic:  # noqa: BLE001 a panic of the engine is no Exception
            context.abort(grpc.StatusCode.INTERNAL, f"Service internal error: {type(panic).__name__}")

    return call
