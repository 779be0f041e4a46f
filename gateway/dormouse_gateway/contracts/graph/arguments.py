"""The parameters of the graph contract's tools: names, types and defaults are the contract's.

Rules between parameters, and those whose texts the contract fixes, are checked by the tools.
Source: graph contract, "Tools".
"""

from typing import Any, ClassVar

from pydantic import Field, field_validator

from dormouse.model.recall import DEFAULT_TOP_K
from dormouse_gateway.mcp.arguments import Arguments

COGNIFY_PIPELINE = "cognify_pipeline"


class RememberArguments(Arguments):
    ids: ClassVar[frozenset[str]] = frozenset({"filename", "dataset_name", "session_id"})

    data: str | None = Field(None, description="Text to remember. Give this or `content_base64`, not both.")
    filename: str | None = Field(None, description="Name of an uploaded file, with its extension.")
    content_base64: str | None = Field(
        None, description="A file's bytes as standard base64, at most 10 MiB once decoded."
    )
    dataset_name: str | None = Field(
        None, description="Dataset to store in; made if it is new. Without it, this client's own dataset."
    )
    session_id: str | None = Field(
        None, description="Keep the text in this session's short-term memory instead of the permanent one."
    )
    custom_prompt: str | None = Field(
        None, description="What a language model should look for in this content, when one is configured."
    )
    background: bool = Field(
        default=False, description="Return as soon as the content is safe, before it is searchable."
    )
    ontology_key: list[str] | None = Field(
        None, description="Keys of uploaded ontologies to ground entities in."
    )
    self_improvement: bool = Field(
        default=True, description="Whether session entries may later enter permanent memory."
    )


class RecallArguments(Arguments):
    ids: ClassVar[frozenset[str]] = frozenset({"search_type", "datasets", "session_id", "scope"})

    query: str = Field(description="What to look for, in plain words.")
    search_type: str | None = Field(
        None,
        description="How to search. Leave it out unless you need CHUNKS, CHUNKS_LEXICAL or another named kind.",
    )
    datasets: str | None = Field(
        None,
        description="Names or ids of datasets to search, separated by commas. Without it, all you may read.",
    )
    session_id: str | None = Field(None, description="Search this session's short-term memory first.")
    system_prompt: str | None = Field(
        None, description="Instruction for the language model that words an answer."
    )
    top_k: int = Field(DEFAULT_TOP_K, description="Most memories to return, 1 to 100.")
    scope: str | None = Field(
        None, description="Where to look, separated by commas: auto, graph, session, session_first, all."
    )

    @field_validator("top_k", mode="before")
    @classmethod
    def _no_bool(cls, value: object) -> object:
        if isinstance(value, bool):
            raise ValueError("must be an integer")  # noqa: TRY004 - pydantic turns only this into a refusal
        return value


class ForgetArguments(Arguments):
    ids: ClassVar[frozenset[str]] = frozenset({"dataset", "data_id", "dataset_id"})

    dataset: str | None = Field(None, description="Name of the dataset to delete, or that holds `data_id`.")
    everything: bool = Field(
        default=False,
        strict=True,  # "yes" or 1 is not clear enough for this
        description="Delete all that you own. Cannot be undone.",
    )
    data_id: str | None = Field(
        None, description="UUID of one item to delete; needs `dataset` or `dataset_id`."
    )
    dataset_id: str | None = Field(None, description="UUID of the dataset, instead of its name.")


class CognifyStatusArguments(Arguments):
    ids: ClassVar[frozenset[str]] = frozenset({"dataset_name"})

    dataset_name: str | None = Field(None, description="Dataset to ask about. Without it, this client's own.")
    pipelines: list[str] = Field([COGNIFY_PIPELINE], description="Which pipelines to report on.")


class SearchToolsArguments(Arguments):
    query: str = Field(description="What you want to do, in plain words.")


class CallToolArguments(Arguments):
    name: str = Field(description="Name of the tool to call.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="That tool's arguments.")
