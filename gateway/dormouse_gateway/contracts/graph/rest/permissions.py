"""Who else may read, write or forget in one's datasets, and who one is.

Only the owner gives, takes back and sees grants; whoever does not own a dataset learns nothing of it, nor of
other users. Source: recorded cases share_*, users_me.
"""

from collections.abc import Callable

from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.errors import NotFoundError
from dormouse.ids import DatasetId, PrincipalId
from dormouse.model.scope import Permission
from dormouse_gateway.contracts.graph.rest.bodies import DatasetIds
from dormouse_gateway.contracts.graph.rest.call import Call, Handler, Served, answer
from dormouse_gateway.contracts.graph.rest.datasets import DATASET
from dormouse_gateway.web.instants import iso
from dormouse_gateway.web.limits import json_names
from dormouse_gateway.web.operation import Answer, Operation, Parameter, path_parameter
from dormouse_gateway.web.problems import Problem, ProblemError

KnowsUser = Callable[[PrincipalId], bool]


class UserView(TypedDict):
    """`id` is the name that the key was made for; what is not kept is null."""

    id: str
    email: None
    is_active: bool
    is_superuser: bool
    is_verified: bool
    tenant_id: None
    parent_user_id: None


class GrantView(TypedDict):
    principalId: str
    permission: str
    grantedAt: str


class SharedView(TypedDict):
    message: str


_PERMISSION = Parameter(
    "permission_name",
    "`write` includes `read`, and `delete` includes both.",
    {"type": "string", "enum": [each.value for each in Permission]},
    is_required=True,
)
_PRINCIPAL = path_parameter("principal", "The user, by the name that the key was made for.")
_WITHOUT = {Permission.READ: None, Permission.WRITE: Permission.READ, Permission.DELETE: Permission.WRITE}
READ_ME = Operation("Who one is", "users", {200: Answer("The caller.", UserView)})
LIST_GRANTS = Operation(
    "Who else may read, write or forget in a dataset of one's own",
    "users",
    {200: Answer("By user.", list[GrantView])},
    parameters=(DATASET,),
    refusals=(403,),
)
SHARE = Operation(
    "Let a user read, write or forget in datasets of one's own",
    "users",
    {200: Answer("All of them, from the user's next call on.", SharedView)},
    "A user who may do more already goes on doing it.",
    parameters=(_PRINCIPAL, _PERMISSION),
    body=DatasetIds,
    refusals=(403,),
)
UNSHARE = Operation(
    "Take back what a user may do",
    "users",
    {200: Answer("From the user's next call on; also when there was nothing to take back.", SharedView)},
    "Taking back `delete` leaves `write`, and taking back `write` leaves `read`.",
    parameters=(_PRINCIPAL, _PERMISSION),
    body=DatasetIds,
    refusals=(403,),
)


async def read_me(call: Call) -> Response:
    view: UserView = {
        "id": call.scope.principal,
        "email": None,
        "is_active": True,
        "is_superuser": False,
        "is_verified": True,
        "tenant_id": None,
        "parent_user_id": None,
    }
    return answer(view)


async def list_grants(call: Call) -> Response:
    dataset = await call.engine.dataset_named(
        call.scope, call.request.path_params["dataset"], permission=Permission.READ
    )
    views: list[GrantView] = [
        {"principalId": each.principal, "permission": each.permission.value, "grantedAt": iso(each.granted_ms)}
        for each in await call.engine.grants(call.scope, dataset.id)
    ]
    return answer(views)


def share_with(knows: KnowsUser) -> Handler:
    """A grant to a name that has no key would wait for whoever gets that name later."""

    async def share(call: Call) -> Response:
        permission, datasets = _permission(call), await _owned(call)
        principal = PrincipalId(call.request.path_params["principal"])
        if not knows(principal) or principal == call.scope.principal:
            raise NotFoundError("there is no other user of this name")
        for dataset in datasets:
            held = await _held(call, dataset, principal)
            if held is None or not held.includes(permission):
                await call.engine.share(call.scope, dataset, principal, permission)
        return answer({"message": "Permission assigned to principal"})

    return share


async def unshare(call: Call) -> Response:
    permission, datasets = _permission(call), await _owned(call)
    principal = PrincipalId(call.request.path_params["principal"])
    for dataset in datasets:
        held = await _held(call, dataset, principal)
        if held is not None and held.includes(permission):
            await call.engine.share(call.scope, dataset, principal, _WITHOUT[permission])
    return answer({"message": "Permission revoked from principal"})


async def _held(call: Call, dataset: DatasetId, principal: PrincipalId) -> Permission | None:
    grants = await call.engine.grants(call.scope, dataset)
    return next((each.permission for each in grants if each.principal == principal), None)


def _permission(call: Call) -> Permission:
    """Recorded with status 403."""
    name = call.request.query_params.get("permission_name", "")
    try:
        return Permission(name)
    except ValueError:
        words = f"{name[:40]} not found or not in allowed permission types"
        raise ProblemError(Problem("forbidden", words)) from None


async def _owned(call: Call) -> list[DatasetId]:
    """All of them are the caller's before the first is touched."""
    wanted = await json_names(call.request)
    found = [
        (await call.engine.dataset_named(call.scope, each, permission=Permission.READ)).id for each in wanted
    ]
    for dataset in found:
        await call.engine.grants(call.scope, dataset)
    return found


def routes(knows: KnowsUser) -> list[Served]:
    return [
        Served("GET", "/users/me", read_me, READ_ME),
        Served("GET", "/datasets/{dataset}/grants", list_grants, LIST_GRANTS),
        Served("POST", "/permissions/datasets/{principal}", share_with(knows), SHARE),
        Served("DELETE", "/permissions/datasets/{principal}", unshare, UNSHARE),
    ]
