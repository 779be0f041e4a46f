"""What no handler foresaw ends here: logged once, and the connection serves the next request.

The framework answers 500 and raises the error again, upon which the server cuts a connection that the client
was just told nothing of; the client's next request is lost. An answer that broke off half-way has no other
end than that cut, so its error goes on to the server, which logs it.
"""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)


class SurpriseGuard:
    """Inside the layer that names the request, so that the log does too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_answered = False

        async def watched(message: Message) -> None:
            nonlocal is_answered
            await send(message)
            is_answered = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            if not is_answered:
                raise
            log.exception("request_broke")
