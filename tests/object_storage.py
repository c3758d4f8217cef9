"""An S3 server in this process, for the tests of vectors on object storage."""

from __future__ import annotations

import contextlib
import urllib.request
from collections.abc import Iterator

from moto.server import ThreadedMotoServer

__all__ = ["running_object_storage"]


@contextlib.contextmanager
def running_object_storage(bucket: str) -> Iterator[dict[str, str]]:
    """Yield the variables by which programs reach a new server that has an empty bucket."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        address = f"http://127.0.0.1:{port}"
        request = urllib.request.Request(f"{address}/{bucket}", method="PUT")  # noqa: S310 - the address above
        urllib.request.urlopen(request).close()  # noqa: S310 - as above
        yield {
            "AWS_ENDPOINT": address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }
    finally:
        server.stop()
