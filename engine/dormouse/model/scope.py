"""Who asks, and what they may see and change.

A `Scope` is made in one place (`access.lookup`) and travels with every call to every store; a store
turns it into filters and never looks further.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from dormouse.ids import DatasetId, PrincipalId, WorkspaceId
from dormouse.model.dataset import Dataset


class Permission(StrEnum):
    """Each includes those before it."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"

    def includes(self, other: "Permission") -> bool:
        kinds = list(Permission)
        return kinds.index(self) >= kinds.index(other)


@dataclass(frozen=True, slots=True)
class Principal:
    """A user or a service; `name` is for people, `id` for everything else."""

    id: PrincipalId
    name: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class Grant:
    """The owner of `dataset` lets `principal` read it, add to it, or forget in it too."""

    principal: PrincipalId
    dataset: DatasetId
    permission: Permission
    granted_ms: int


@dataclass(frozen=True, slots=True)
class Scope:
    """`deletable` is always a subset of `writable`, and that of `readable`. `datasets` are the readable ones as
    they were when the scope was made, forgotten ones among them; None where it was made of ids alone."""

    principal: PrincipalId
    workspace: WorkspaceId
    readable: frozenset[DatasetId]
    writable: frozenset[DatasetId]
    deletable: frozenset[DatasetId] = frozenset()
    datasets: tuple[Dataset, ...] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.writable <= self.readable:
            raise ValueError("writable datasets must be readable")
        if not self.deletable <= self.writable:
            raise ValueError("deletable datasets must be writable")

    def granted(self, permission: Permission) -> frozenset[DatasetId]:
        """Those in which the caller has this permission."""
        match permission:
            case Permission.READ:
                return self.readable
            case Permission.WRITE:
                return self.writable
            case Permission.DELETE:
                return self.deletable

    def narrowed_to(self, datasets: Iterable[DatasetId]) -> "Scope":
        """The same caller, looking at some of their datasets only; never wider."""
        wanted = frozenset(datasets)
        return replace(
            self,
            readable=self.readable & wanted,
            writable=self.writable & wanted,
            deletable=self.deletable & wanted,
            datasets=None
            if self.datasets is None
            else tuple(each for each in self.datasets if each.id in wanted),
        )


@dataclass(frozen=True, slots=True)
class Fence:
    """Proof of the apply lease: who writes to the stores, and with which change.

    `epoch` grows with every takeover and is asserted by every graph transaction; `seq` is the change's
    number, and a store never replaces a row of a higher one. Source: writes §3.
    """

    workspace: WorkspaceId
    epoch: int
    seq: int
