"""forget: erase for good, and say so only once nothing is left to be found.

Source: graph contract, "forget"; writes §5.
"""

from dataclasses import dataclass
from uuid import UUID

from mcp.types import CallToolResult, ToolAnnotations

from dormouse.engine import Engine
from dormouse.errors import ForbiddenError, NotFoundError
from dormouse.ids import DocumentId
from dormouse.model.dataset import Dataset
from dormouse.model.receipt import ForgetReceipt
from dormouse.model.scope import Permission, Scope
from dormouse_gateway.contracts.graph import texts
from dormouse_gateway.contracts.graph.arguments import ForgetArguments
from dormouse_gateway.contracts.graph.tools.outcomes import job_ids, refuse_failure, wait_for_all
from dormouse_gateway.mcp.tool import Call, Tool, ToolRefusal, reply

FAILURE = "Error: Forget failed: "

DESCRIPTION = """\
Erase memories for good: one item (`data_id` with its dataset), a whole dataset, or everything you own.

This cannot be undone, and what was erased is gone from every index and history. Ask the user first unless \
they told you to forget. `data_id` and `dataset_id` come with every recalled memory."""


@dataclass(frozen=True, slots=True)
class _Forget:
    engine: Engine

    async def __call__(self, call: Call, arguments: ForgetArguments) -> CallToolResult:
        _check(arguments)
        scope = await self.engine.scope_of(call.principal)
        receipt = await self._accept(scope, arguments)
        jobs = await wait_for_all(self.engine, call, scope, receipt.jobs, until="final")
        for job in jobs:
            refuse_failure(job, FAILURE)
        running = [job for job in jobs if not job.stage.is_final]
        status = "running" if running else "success"
        lines = [_words(arguments, status), *(texts.goes_on(job.id) for job in running)]
        return reply("\n".join(lines), structured={"status": status, "job_ids": job_ids(jobs)})

    async def _accept(self, scope: Scope, arguments: ForgetArguments) -> ForgetReceipt:
        if arguments.everything:
            return await self.engine.forget_everything(scope)
        dataset = await self._dataset(scope, arguments)
        if arguments.data_id is None:
            return await self.engine.forget_dataset(scope, dataset.id)
        try:
            return await self.engine.forget_item(scope, dataset.id, DocumentId(_canonical(arguments.data_id)))
        except NotFoundError:  # already gone, or never there: both are what was asked for
            return ForgetReceipt(jobs=(), session_entries=0)

    async def _dataset(self, scope: Scope, arguments: ForgetArguments) -> Dataset:
        """Somebody else's dataset and none at all get the same answer."""
        wanted = _canonical(arguments.dataset_id) if arguments.dataset_id else arguments.dataset or ""
        try:
            return await self.engine.dataset_named(scope, wanted, permission=Permission.DELETE)
        except NotFoundError:
            if arguments.dataset_id:
                raise ToolRefusal(texts.NO_DATASET_WITH_THAT_ID) from None
            raise ToolRefusal(texts.nothing_to_forget(wanted[:200])) from None
        except ForbiddenError:
            raise ToolRefusal(texts.NO_DATASET_WITH_THAT_ID) from None


def forget_tool(engine: Engine) -> Tool:
    return Tool(
        name="forget",
        title="Forget",
        description=DESCRIPTION,
        arguments=ForgetArguments,
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
        ),
        failure=FAILURE,
        run=_Forget(engine),
    )


def _check(arguments: ForgetArguments) -> None:
    """Raises ToolRefusal in the order the contract checks; of two meanings never the one that erases more."""
    if arguments.everything:
        if arguments.dataset or arguments.dataset_id or arguments.data_id:
            raise ToolRefusal(texts.EVERYTHING_AND_MORE)
        return
    has_dataset = arguments.dataset or arguments.dataset_id
    if arguments.data_id and not has_dataset:
        raise ToolRefusal(texts.ITEM_WITHOUT_DATASET)
    if not has_dataset:
        raise ToolRefusal(texts.NO_TARGET)
    if not all(_is_uuid(given) for given in (arguments.data_id, arguments.dataset_id) if given):
        raise ToolRefusal(texts.NOT_A_UUID)
    if arguments.dataset and arguments.dataset_id:
        raise ToolRefusal(texts.TWO_DATASETS)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _canonical(uuid: str) -> str:
    """One spelling of the many that a UUID may have."""
    return str(UUID(uuid))


def _words(arguments: ForgetArguments, status: str) -> str:
    if arguments.everything:
        return texts.forgotten_everything(status)
    if arguments.data_id:
        return texts.forgotten_item(arguments.data_id, status)
    return texts.forgotten_dataset(arguments.dataset or arguments.dataset_id or "", status)
