"""A running Dormouse over REST, for the command line.

Every call here may be repeated: remembering the same again is a duplicate, forgetting what is gone succeeds,
and where a repeated call is refused for the first one's success, it says so.
So a server that went away is looked for again, and one that is busy is asked again, within `patience_s`.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import httpx

from dormouse.adapters.data_folder.find import MIGRATION_PATH, REBUILD_PATH
from dormouse.errors import UnavailableError

PATIENCE_S = 120.0
_CALL_TIMEOUT_S = 90.0  # longer than a server lets a blocking call wait
_READ_ALL_TIMEOUT_S = 330.0  # as long as a server reads everything, and a little
_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 5.0
_BUSY = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`secret` goes as a bearer token; empty where none is needed."""

    url: str
    secret: str


class RefusedError(Exception):
    """The server said no. `remediation` is what its user can do about it."""

    def __init__(self, status: int, code: str, detail: str, remediation: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.remediation = remediation


@dataclass(frozen=True, slots=True)
class Upload:
    name: str
    content: bytes
    fields: Mapping[str, str | list[str]]


@dataclass(frozen=True, slots=True)
class Recalled:
    """`degraded` names what did not answer: `vector`, `graph`, `answer` (the language model)."""

    entries: tuple[dict[str, Any], ...]
    degraded: tuple[str, ...]


class RestClient:
    """`locate` finds the server, and finds it again (or starts another) when it does not answer."""

    def __init__(self, locate: Callable[[], Awaitable[Endpoint]], *, patience_s: float = PATIENCE_S) -> None:
        self._locate = locate
        self._patience_s = patience_s
        self._endpoint: Endpoint | None = None
        self._has_answered = False
        # No proxy of the environment: a laptop's own server is not beyond one.
        self._http = httpx.AsyncClient(timeout=_CALL_TIMEOUT_S, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def remember(self, upload: Upload) -> dict[str, Any]:
        """Accepted and durable on return; a refusal of the item raises `RefusedError`."""
        files = {"data": (upload.name, upload.content, "application/octet-stream")}
        fields = {"run_in_background": "true", **upload.fields}
        return await self._dict("POST", "/api/v1/remember", data=fields, files=files)

    async def recall(self, body: Mapping[str, object]) -> Recalled:
        answer = await self._call("POST", "/api/v1/recall", json=dict(body))
        missing = answer.headers.get("x-dormouse-degraded", "").split(",")
        return Recalled(tuple(answer.json()), tuple(part for part in missing if part))

    async def forget(self, body: Mapping[str, object]) -> dict[str, Any]:
        return await self._dict("POST", "/api/v1/forget", json=dict(body))

    async def audit(self) -> dict[str, Any]:
        return await self._dict("GET", "/api/v1/audit", timeout=_READ_ALL_TIMEOUT_S)

    async def repair(self) -> dict[str, Any]:
        return await self._dict("POST", "/api/v1/repair", timeout=_READ_ALL_TIMEOUT_S)

    async def suppress(self, dataset: str, item: str) -> dict[str, Any]:
        return await self._dict("POST", f"/api/v1/datasets/{dataset}/data/{item}/suppress")

    async def restore(self, dataset: str, item: str) -> dict[str, Any]:
        return await self._dict("POST", f"/api/v1/datasets/{dataset}/data/{item}/restore")

    async def datasets(self) -> list[dict[str, Any]]:
        return await self._all("/api/v1/datasets")

    async def items(self, dataset: str) -> list[dict[str, Any]]:
        """Of a dataset by name or id, which the server tells apart as everywhere."""
        return await self._all(f"/api/v1/datasets/{quote(dataset, safe='')}/data")

    async def add_ontology(self, upload: Upload) -> dict[str, Any]:
        """Refused where the key is taken, also when it was by an earlier try of this call."""
        files = {"ontology_file": (upload.name, upload.content, "application/octet-stream")}
        return await self._dict("POST", "/api/v1/ontologies", data=dict(upload.fields), files=files)

    async def ontologies(self) -> dict[str, dict[str, Any]]:
        """By key."""
        return await self._dict("GET", "/api/v1/ontologies")

    async def ontology(self, key: str) -> bytes:
        """The file as it was uploaded."""
        return (await self._call("GET", f"/api/v1/ontologies/{quote(key, safe='')}")).content

    async def delete_ontology(self, key: str) -> None:
        """Refused where there is none under the key, also when an earlier try of this call deleted it."""
        await self._call("DELETE", f"/api/v1/ontologies/{quote(key, safe='')}")

    async def job(self, job: str, *, wait_s: int = 0) -> dict[str, Any]:
        return await self._dict("GET", f"/api/v1/jobs/{job}", params={"wait": wait_s} if wait_s else {})

    async def jobs(self, params: Mapping[str, str | int | list[str]]) -> dict[str, Any]:
        return await self._dict("GET", "/api/v1/jobs", params=dict(params))

    async def retry_job(self, job: str) -> dict[str, Any]:
        """The key makes a repeated call find the first one's job."""
        key = {"Idempotency-Key": str(uuid4())}
        return await self._dict("POST", f"/api/v1/jobs/{job}/retry", headers=key)

    async def cancel_job(self, job: str) -> dict[str, Any]:
        return await self._dict("POST", f"/api/v1/jobs/{job}/cancel")

    async def status(self) -> dict[str, Any]:
        return await self._dict("GET", "/api/v1/status")

    async def export(self, params: Mapping[str, str | list[str]]) -> AsyncIterator[str]:
        """Its lines as they come; not repeated, so a server that goes away ends it with `UnavailableError`."""
        await self.status()  # finds the server, or starts one
        assert self._endpoint is not None
        url = f"{self._endpoint.url}/api/v1/export"
        try:
            async with self._http.stream("GET", url, params=dict(params), headers=self._headers) as answer:
                if not answer.is_success:
                    await answer.aread()
                    _checked(answer)
                async for line in answer.aiter_lines():
                    yield line
        except httpx.TransportError as exc:
            raise UnavailableError("the server went away in the middle of the export: try again") from exc

    async def rebuild(self, stores: Sequence[str]) -> dict[str, Any]:
        """Of the memory on this machine only; the job that does it."""
        return await self._dict("POST", REBUILD_PATH, json={"stores": list(stores)})

    async def migrate_embedding(self) -> dict[str, Any]:
        """As `rebuild`."""
        return await self._dict("POST", MIGRATION_PATH)

    async def drop_migration(self) -> dict[str, Any]:
        return await self._dict("DELETE", MIGRATION_PATH)

    async def _all(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            answer = await self._call("GET", path, params={"cursor": cursor} if cursor else {})
            found += answer.json()
            cursor = answer.headers.get("x-next-cursor")
            if cursor is None:
                return found

    async def _dict(self, method: str, path: str, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - httpx knows their types
        answer = await self._call(method, path, **request)
        return dict(answer.json())

    async def _call(self, method: str, path: str, **request: Any) -> httpx.Response:  # noqa: ANN401 - httpx knows their types
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                answer = await self._once(method, path, request)
            except httpx.TransportError as exc:
                if time.monotonic() > deadline or not self._has_answered:
                    # An address that never answered is more likely wrong than busy.
                    raise UnavailableError(f"no server answers at {self._url}") from exc
                self._endpoint = None
                await asyncio.sleep(_PAUSE_S)
                continue
            if answer.status_code not in _BUSY or time.monotonic() > deadline:
                return _checked(answer)
            await asyncio.sleep(_pause_s(answer))

    async def _once(self, method: str, path: str, request: Mapping[str, Any]) -> httpx.Response:
        if self._endpoint is None:
            self._endpoint = await self._locate()
        sent = {**request, "headers": {**self._headers, **request.get("headers", {})}}
        answer = await self._http.request(method, self._endpoint.url + path, **sent)
        self._has_answered = True
        return answer

    @property
    def _headers(self) -> dict[str, str]:
        secret = self._endpoint.secret if self._endpoint else ""
        return {"Authorization": f"Bearer {secret}"} if secret else {}

    @property
    def _url(self) -> str:
        return self._endpoint.url if self._endpoint else "its address"


def _pause_s(answer: httpx.Response) -> float:
    wanted = answer.headers.get("retry-after", "")
    return min(float(wanted), _LONGEST_PAUSE_S) if wanted.isdecimal() else _PAUSE_S


def _checked(answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    try:
        said = answer.json()
        detail, code = str(said["detail"]), str(said["code"])
        remediation = str(said.get("remediation", ""))
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
        detail, code, remediation = f"the server answered {answer.status_code}", "internal", ""
    raise RefusedError(answer.status_code, code, detail, remediation)
