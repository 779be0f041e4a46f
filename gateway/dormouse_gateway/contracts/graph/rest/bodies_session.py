"""What the routes of session memory accept."""

from typing import Annotated, Any, Literal

from pydantic import Field

from dormouse_gateway.contracts.graph.rest.bodies import Body, Name

MAX_TEXT_CHARACTERS = 100_000
MAX_NAME_CHARACTERS = 200

Text = Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]


class Feedback(Body):
    feedback_text: Annotated[Text | None, Field()] = None
    feedback_score: int | None = Field(default=None, ge=-5, le=5)


class ExchangeEntry(Feedback):
    """A question and its answer; either may be empty."""

    type: Literal["qa"]
    question: Text = ""
    answer: Text = ""
    context: Text = ""


class TraceEntry(Body):
    """What a tool did. Kept with its session and not searched."""

    type: Literal["trace"]
    origin_function: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    status: Literal["success", "error"]
    method_params: dict[str, Any] = Field(default_factory=dict)
    method_return_value: Any = None
    memory_query: Text = ""
    memory_context: Text = ""
    error_message: Text = ""


class FeedbackEntry(Feedback):
    """On an entry of the same session."""

    type: Literal["feedback"]
    qa_id: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)


class EntryBody(Body):
    entry: Annotated[ExchangeEntry | TraceEntry | FeedbackEntry, Field(discriminator="type")]
    session_id: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    dataset_name: Name = None
    dataset_id: Name = None
