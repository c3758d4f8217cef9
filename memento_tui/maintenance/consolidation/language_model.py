"""A language model behind an endpoint that speaks the OpenAI chat protocol: Ollama, vLLM, llama.cpp."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import threading

import msgspec

from memento_tui.agreements import Destination, require_agreement
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import InvalidInput

__all__ = ["LanguageModelEndpoint", "LanguageModelError"]

_LARGEST_ANSWER = 1_000_000
"""Bytes of an answer that are read. A draft has about a thousand; a model's reasoning may come with it."""

_GRACE_SECONDS = 2.0
"""Seconds beyond the time limit until a request is abandoned: a name server cannot be interrupted."""

_URL = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?(?:/[A-Za-z0-9._~%/-]*)?", re.ASCII)
_KEY = re.compile(r"[\x21-\x7e]+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,60}", re.ASCII)
_REDIRECTS = range(300, 400)
_HTTP_OK = 200
_LAST_PORT = 65_535
_CLIENT_ERROR_STATUSES = {
    400: "the request cannot be used; check language_model.model",
    401: "the key is missing or wrong",
    403: "the key may not be used for that",
    404: "nothing is there; check language_model.url and language_model.model",
    429: "there were too many requests",
}


class LanguageModelError(Exception):
    """There is no answer; the message says why in a sentence. ``gone``: another request would fail in the same way."""

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.gone = gone


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]


class LanguageModelEndpoint:
    """The endpoint of the model that ``config`` names; its ``url`` must not be empty.

    Raises:
        InvalidInput: a setting cannot be used, or the environment variable that is to hold the key is not set.
        NotAllowed: the person did not agree to that address with that variable.

    """

    def __init__(self, config: LanguageModelConfig) -> None:
        match = _URL.fullmatch(config.url)
        if match is None or int(match[3] or 0) > _LAST_PORT:
            raise InvalidInput(
                "language_model.url must be an http or https address without a user, a query or a fragment.",
                "Write it as http://127.0.0.1:11434/v1, or leave it empty to work without a language model.",
            )
        if not config.model.strip():
            raise InvalidInput(
                "language_model.url is set, but language_model.model is not.",
                "Name the model in config.toml as the endpoint names it, such as llama3.2.",
            )
        require_agreement(Destination.of_language_model(config))  # before the variable is read
        self._key = _api_key(config.key_variable)
        self._model = config.model
        self._seconds = config.timeout_seconds
        self._address = config.url.rstrip("/") + "/chat/completions"
        self.is_local = _is_loopback(match[2])
        """Whether requests stay on this machine."""

    def ask(self, instruction: str, text: str) -> str:
        """Return the model's complete answer to ``text``.

        Raises:
            LanguageModelError: there is no answer, or not all of it.

        """
        messages = [{"role": "system", "content": instruction}, {"role": "user", "content": text}]
        body = {"model": self._model, "messages": messages, "temperature": 0, "stream": False}
        try:
            encoded = msgspec.json.encode(body)
        except UnicodeEncodeError:
            raise LanguageModelError("The text holds bytes that are not UTF-8; it was not sent.") from None
        return self._content(self._run_with_deadline(encoded))

    def _content(self, answer: bytes) -> str:
        try:
            choice = msgspec.json.decode(answer, type=_Completion).choices[0]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, IndexError):
            raise LanguageModelError("The language model's answer is not in the form of the chat protocol.") from None
        content = choice.message.content or ""
        if self._key and self._key in content:
            raise LanguageModelError("The language model's answer holds the key.")
        if choice.finish_reason != "stop":
            raise LanguageModelError("The language model's answer is truncated: it did not come to its end.")
        if not content.strip():
            raise LanguageModelError("The language model's answer is empty.")
        return content.strip()

    def _run_with_deadline(self, body: bytes) -> bytes:
        """Run the exchange on its own thread, so that it can be abandoned and callers may have an event loop."""
        outcome: list[bytes | LanguageModelError] = []
        thread = threading.Thread(target=self._run, args=(body, outcome), name="language model", daemon=True)
        thread.start()
        thread.join(self._seconds + _GRACE_SECONDS)
        result = outcome[0] if outcome else self._too_slow()
        if isinstance(result, LanguageModelError):
            raise result
        return result

    def _run(self, body: bytes, outcome: list[bytes | LanguageModelError]) -> None:
        try:
            outcome.append(asyncio.run(self._exchange(body)))
        except LanguageModelError as problem:
            outcome.append(problem)

    def _too_slow(self) -> LanguageModelError:
        return LanguageModelError(f"The language model did not answer within {self._seconds:g} seconds.", gone=True)

    async def _exchange(self, body: bytes) -> bytes:
        import httpx2  # noqa: PLC0415 - takes a tenth of a second, and few have a model

        try:
            # The client's own limits are for each read: a byte a second would never reach them.
            async with asyncio.timeout(self._seconds):
                return await self._post(body)
        except TimeoutError:
            raise self._too_slow() from None
        except httpx2.ConnectError:
            raise LanguageModelError("The language model's endpoint cannot be reached.", gone=True) from None
        except (httpx2.HTTPError, httpx2.StreamError, OSError):
            message = "The connection to the language model broke before it had answered."
            raise LanguageModelError(message, gone=True) from None
        except (httpx2.InvalidURL, ValueError, ImportError):
            message = "The language model's address, or the proxy that the environment names, cannot be used."
            raise LanguageModelError(message, gone=True) from None

    async def _post(self, body: bytes) -> bytes:
        import httpx2  # noqa: PLC0415 - as above

        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        # A proxy from the environment would take requests for this machine to another one.
        async with (
            httpx2.AsyncClient(trust_env=not self.is_local, follow_redirects=False, timeout=None) as client,
            client.stream("POST", self._address, content=body, headers=headers) as response,
        ):
            _check_status(response.status_code)
            if response.headers.get("Content-Encoding", "identity") != "identity":
                raise LanguageModelError("The language model's answer is compressed, which was not asked for.")
            received = bytearray()
            async for chunk in response.aiter_raw():
                received += chunk
                if len(received) > _LARGEST_ANSWER:
                    raise LanguageModelError(f"The language model's answer is over {_LARGEST_ANSWER:,} bytes long.")
            return bytes(received)


def _check_status(status: int) -> None:
    """Raise unless the answer is complete; the endpoint's own message, which may hold anything, is not repeated."""
    if status == _HTTP_OK:
        return
    if status in _REDIRECTS:
        raise LanguageModelError(
            f"The language model's endpoint points elsewhere (HTTP {status}), and nothing is sent there;"
            " language_model.url must be the final address."
        )
    reason = _CLIENT_ERROR_STATUSES.get(status, "it failed")
    raise LanguageModelError(f"The language model's endpoint answered with HTTP {status}: {reason}.")


def _api_key(variable: str) -> str:
    if not variable:
        return ""
    # A key that was written in the place of its variable's name must not be repeated either.
    name = (
        f"variable {variable}" if _VARIABLE.fullmatch(variable) else "variable that language_model.key_variable names"
    )
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InvalidInput(
            f"The environment {name} is to hold the language model's key, and is not set.",
            "Set it, or remove language_model.key_variable from config.toml.",
        )
    if not _KEY.fullmatch(key):
        raise InvalidInput(
            f"The environment {name} holds characters that a key cannot have.", "Set it to the key alone."
        )
    return key


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
