"""A scripted server with the interface of OpenAI: it stands in for a language model, and is none.

It answers extraction by rules a test can foresee (one fact for each passage, in the passage's own words) and
questions with its first source. A `Script` makes it misbehave in the ways real endpoints do. Everything it was
asked is kept, so that a test can count calls and look at prompts.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-scripted"
MODEL = "scripted-1"
EMBEDDING_MODEL = "scripted-embedding"
DIMENSION = 32
MARKER = "DERIVED"  # stands in every memory that was derived by it, and in nothing else

Asked = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """One HTTP answer. `text` None: `body` is the whole answer."""

    text: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    finish: str = "stop"


@dataclass(slots=True)
class Script:
    """`reply` may answer in the place of the rules, by the number of the chat call (from 1); None leaves it to
    them. While `gate` is closed, calls hang; `refuses_format` knows no `response_format`."""

    reply: Callable[[int, Asked], Said | None] = lambda _number, _asked: None
    refuses_format: bool = False
    gate: threading.Event = field(default_factory=threading.Event)
    answers_embeddings: bool = True


class ScriptedServer:
    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.script.gate.set()
        self.chats: list[Asked] = []
        self.embeddings: list[Asked] = []
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                said = server.say(self.path, self.headers.get("Authorization", ""), asked)
                content = json.dumps(said.body).encode()
                try:
                    self.send_response(said.status)
                    for name, value in {"Content-Type": "application/json", **said.headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    return  # whoever asked is gone

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Nothing is printed."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """What makes Dormouse use it."""
        return {
            "DORMOUSE_LLM__BASE_URL": self.url,
            "DORMOUSE_LLM__API_KEY": KEY,
            "DORMOUSE_LLM__MODEL": MODEL,
        }

    @property
    def embedding_environment(self) -> dict[str, str]:
        return {
            "DORMOUSE_EMBEDDING__BASE_URL": self.url,
            "DORMOUSE_EMBEDDING__API_KEY": KEY,
            "DORMOUSE_EMBEDDING__MODEL": EMBEDDING_MODEL,
        }

    @property
    def extractions(self) -> list[dict[str, Any]]:
        """The documents that were to be extracted, in the order they came."""
        return [found for asked in self.chats if "passages" in (found := document_of(asked))]

    @property
    def questions(self) -> list[dict[str, Any]]:
        return [found for asked in self.chats if "question" in (found := document_of(asked))]

    @contextmanager
    def running(self) -> Iterator["ScriptedServer"]:
        thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.script.gate.set()
            self._http.shutdown()
            self._http.server_close()
            thread.join()

    def say(self, path: str, authorization: str, asked: Asked) -> Said:
        if authorization != f"Bearer {KEY}":
            return refusal(401, "Incorrect API key provided.", "invalid_api_key")
        if path.endswith("/embeddings"):
            with self._lock:
                self.embeddings.append(asked)
            if not self.script.answers_embeddings:
                return refusal(503, "Overloaded.", "overloaded")
            return Said(body=embedded(asked))
        with self._lock:
            self.chats.append(asked)
            number = len(self.chats)
        if asked["model"] != MODEL:
            return refusal(404, "The model does not exist.", "model_not_found")
        if self.script.refuses_format and "response_format" in asked:
            return refusal(400, "response_format is not supported here.", "invalid_request_error")
        self.script.gate.wait()
        said = self.script.reply(number, asked) or Said(text=by_rule(document_of(asked)))
        return said if said.text is None else Said(None, said.status, said.headers, completion(said, asked))


def refusal(status: int, message: str, code: str, **headers: str) -> Said:
    return Said(status=status, headers=headers, body={"error": {"message": message, "code": code}})


def document_of(asked: Asked) -> dict[str, Any]:
    """Empty for a question in plain words."""
    content = asked["messages"][-1]["content"]
    found: dict[str, Any] = json.loads(content) if content.startswith("{") else {}
    return found


def by_rule(document: dict[str, Any]) -> str:
    if "question" in document:
        source = document["sources"][0]
        return json.dumps({"answered": True, "answer": f"{MARKER} {source['text']} [1]", "sources": [1]})
    if "passages" not in document:
        return "yes"
    return json.dumps({"items": [item_of(each) for each in document["passages"]], "entities": []})


def item_of(passage: dict[str, Any], **other: object) -> dict[str, object]:
    """One fact: the passage's words, with a mark that only this server makes."""
    return {
        "type": "fact",
        "passage": passage["id"],
        "quote": passage["text"][:200],
        "content": f"{MARKER} {passage['text'][:200]}",
        "from": "",
        "to": "",
        "stated": True,
        "subject": "",
        "predicate": "",
        "object": "",
        "entities": [],
        **other,
    }


def completion(said: Said, asked: Asked) -> dict[str, Any]:
    message = {"role": "assistant", "content": said.text}
    tokens_in, tokens_out = len(json.dumps(asked["messages"])) // 4, len(said.text or "") // 4
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": said.finish}],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def embedded(asked: Asked) -> dict[str, Any]:
    """Counts of letters: texts that share words are near each other."""
    texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    data = [{"object": "embedding", "index": i, "embedding": vector_of(each)} for i, each in enumerate(texts)]
    return {
        "object": "list",
        "model": EMBEDDING_MODEL,
        "data": data,
        "usage": {"prompt_tokens": sum(map(len, texts)) // 4, "total_tokens": sum(map(len, texts)) // 4},
    }


def vector_of(text: str) -> list[float]:
    vector = [0.01] * DIMENSION
    for letter in text.casefold():
        vector[ord(letter) % DIMENSION] += 1.0
    return vector
