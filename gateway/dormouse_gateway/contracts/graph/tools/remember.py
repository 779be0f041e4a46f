"""remember: make content durable first, then wait until it can be found, as long as the client would.

A call that is cut or cancelled never stops or repeats the work. Text is content, never a path on the server.
Source: graph contract, "remember".
"""

from dataclasses import dataclass

from mcp.types import CallToolResult, ToolAnnotations

from dormouse.engine import Engine
from dormouse.ingest.ontologies import option_of
from dormouse.model.document import Content, ContentKind
from dormouse.model.receipt import Receipt
from dormouse.model.scope import Scope
from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.contracts.graph.arguments import RememberArguments
from dormouse_gateway.contracts.graph.client_names import dataset_of_client
from dormouse_gateway.contracts.graph.tools.outcomes import refuse_failure, wait_for_all
from dormouse_gateway.contracts.graph.uploads import decode_upload, upload_name
from dormouse_gateway.mcp.tool import Call, Tool, ToolRefusal, reply

FAILURE = "Error: Remember failed: "

DESCRIPTION = """\
Store something so that you and other agents can recall it later, in this conversation or any other one.

Use it for facts, decisions, preferences, notes and whole documents: pass text as `data`, or a file as \
`filename` with `content_base64`. Give exactly one of the two. With `session_id` the text goes to short-term \
memory of that session instead. The call returns when the content can be recalled; long content goes on \
in the background and the answer says so. Remembering the same content again changes nothing."""


@dataclass(frozen=True, slots=True)
class _Remember:
    engine: Engine
    is_scoped: bool

    async def __call__(self, call: Call, arguments: RememberArguments) -> CallToolResult:
        content = _content_of(arguments)
        scope = await self.engine.scope_of(call.principal)
        if arguments.session_id is not None:
            return await self._remember_in_session(scope, arguments)
        dataset = arguments.dataset_name or dataset_of_client(call.client_name, is_scoped=self.is_scoped)
        receipt = await self.engine.remember(scope, dataset, content)
        if arguments.background:
            what = f"'{content.filename}'" if content.filename else "text"
            return reply(texts.queued(what, _name_of(receipt, dataset)), structured=_view(receipt, "queued"))
        return await self._settle(call, scope, receipt, content)

    async def _remember_in_session(self, scope: Scope, arguments: RememberArguments) -> CallToolResult:
        session = arguments.session_id or ""
        entry = await self.engine.remember_in_session(
            scope, session, arguments.data or "", dataset=arguments.dataset_name
        )
        view = {"status": "session_stored", "session_id": session, "entry_id": entry.id}
        return reply(texts.stored_in_session(session), structured=view)

    async def _settle(self, call: Call, scope: Scope, receipt: Receipt, content: Content) -> CallToolResult:
        (job,) = await wait_for_all(self.engine, call, scope, [receipt.job], until="searchable")
        refuse_failure(job, FAILURE)
        status = "completed" if job.stage.is_searchable else "running"
        dataset = _name_of(receipt, "")
        text = texts.stored(dataset, status)
        if content.filename:
            text = texts.ingested(content.filename, len(content.body), dataset, status)
        if status == "running":
            text = f"{text}\n{texts.goes_on(job.id)}"
        return reply(text, structured=_view(receipt, status))


def remember_tool(engine: Engine, *, is_scoped: bool) -> Tool:
    return Tool(
        name="remember",
        title="Remember",
        description=DESCRIPTION,
        arguments=RememberArguments,
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
        ),
        failure=FAILURE,
        run=_Remember(engine, is_scoped),
    )


def _content_of(arguments: RememberArguments) -> Content:
    """Raises ToolRefusal in the order the contract checks."""
    has_text, upload = bool(arguments.data and arguments.data.strip()), arguments.content_base64
    if upload and has_text:
        raise ToolRefusal(texts.BOTH_INPUTS)
    if not upload and not has_text:
        raise ToolRefusal(texts.NO_INPUT)
    if upload and arguments.session_id is not None:
        raise ToolRefusal(texts.UPLOAD_IN_SESSION)
    decoded = decode_upload(upload) if upload else None
    if arguments.ontology_key and arguments.session_id is not None:
        raise ToolRefusal(texts.ONTOLOGY_IN_SESSION)
    if decoded is not None:
        name = upload_name(arguments.filename)
        return Content(body=decoded, kind=ContentKind.FILE, filename=name, options=_options(arguments))
    return Content(body=(arguments.data or "").encode(), options=_options(arguments))


def _options(arguments: RememberArguments) -> dict[str, str]:
    prompt = (arguments.custom_prompt or "").strip()
    steered = {"custom_prompt": prompt} if prompt else {}
    return {**steered, **option_of(arguments.ontology_key or [])}


def _name_of(receipt: Receipt, otherwise: str) -> str:
    return receipt.dataset.name if receipt.dataset else otherwise


def _view(receipt: Receipt, status: str) -> dict[str, object]:
    return {
        "status": status,
        "dataset": receipt.dataset.name if receipt.dataset else None,
        "dataset_id": receipt.dataset.id if receipt.dataset else None,
        "data_id": receipt.document.id if receipt.document else None,
        "job_id": receipt.job.id,
    }
