"""The app in a browser: who may come in, and a person who searches and decides there."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from memento_tui.api import Workspace
from memento_tui.tui.web.server import MAX_WINDOWS
from tests.journeys.engine_house import is_alive, until
from tests.journeys.web_server import WebProcess, serving, window
from tests.made import always, without_engine

_ADDRESS_NEEDED = "Open the whole address that `memento web` printed"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    with serving(without_engine(tmp_path_factory.mktemp("web") / "data")) as process:
        yield process


@pytest.mark.parametrize("asked", ["/", "/?token=", "/?token=guess%C3%A9", "/favicon.ico", "/download/x", "/static/"])
def test_without_the_token_nothing_is_served(server: WebProcess, asked: str) -> None:
    answer = server.ask(asked)
    assert answer.status == 403
    assert _ADDRESS_NEEDED in answer.text


def test_neither_page_nor_file_nor_channel_is_there_without_the_cookie(server: WebProcess) -> None:
    path, cookie = server.enter()
    for asked in ("", "textual.js", "page.css", "upright.ttf", "channel"):
        answer = server.ask(path + asked)
        assert (answer.status, _ADDRESS_NEEDED in answer.text) == (403, True)
    assert server.ask_channel(path, Origin=server.origin).status == 403
    wrong = cookie[:-1] + ("A" if cookie[-1] != "A" else "B")
    assert server.ask(path, Cookie=wrong).status == 403
    assert server.ask(path, Cookie=cookie).status == 200
    assert server.ask(f"{path}nothing", Cookie=cookie).status == 404


def test_the_token_belongs_to_the_door_alone(server: WebProcess) -> None:
    path, _ = server.enter()
    assert server.ask(f"{path}?{server.url.partition('?')[2]}").status == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", ""])
def test_another_host_name_is_refused_even_with_the_token(server: WebProcess, host: str) -> None:
    path, cookie = server.enter()
    host = host.format(port=server.port)
    for answer in (server.ask(server.url, Host=host), server.ask(path, Host=host, Cookie=cookie)):
        assert answer.status == 403
        assert f"answers to {server.authority} only" in answer.text
        assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost:{port}"])
def test_a_channel_that_another_page_asks_for_is_refused(server: WebProcess, origin: str) -> None:
    path, cookie = server.enter()
    answer = server.ask_channel(path, Cookie=cookie, Origin=origin.format(port=server.port))
    assert answer.status == 403
    assert "only memento's own page may" in answer.text
    assert server.ask_channel(path, Cookie=cookie).status == 403
    assert server.apps() == []


def test_every_answer_tells_the_browser_to_keep_and_frame_nothing(server: WebProcess) -> None:
    path, cookie = server.enter()
    for answer in (server.ask("/"), server.ask(path, Cookie=cookie), server.ask(path + "page.js", Cookie=cookie)):
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy


async def test_there_are_only_so_many_windows_and_each_has_an_app_that_ends_with_it(server: WebProcess) -> None:
    path, cookie = server.enter()
    headers = {"Cookie": cookie, "Origin": server.origin}
    async with AsyncExitStack() as stack, aiohttp.ClientSession(headers=headers) as session:
        for _ in range(MAX_WINDOWS):
            channel = await stack.enter_async_context(session.ws_connect(f"{server.origin}{path}channel"))
            assert (await channel.receive(timeout=60)).type is aiohttp.WSMsgType.BINARY
        assert len(server.apps()) == MAX_WINDOWS
        async with session.get(f"{server.origin}{path}") as answer:
            assert (answer.status, "windows are open already" in await answer.text()) == (503, True)
        with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
            await session.ws_connect(f"{server.origin}{path}channel")
        await channel.close()
        until(lambda: len(server.apps()) == MAX_WINDOWS - 1, "the app ends with its window")
    until(lambda: server.apps() == [], "every app ends with its window")


async def test_an_app_outlives_neither_its_server_nor_nonsense_ends_it(data_dir: Path) -> None:
    with serving(data_dir) as server:
        path, cookie = server.enter()
        headers = {"Cookie": cookie, "Origin": server.origin}
        async with aiohttp.ClientSession(headers=headers) as session:
            channel = await session.ws_connect(f"{server.origin}{path}channel?width=x&height=-1")
            for sent in ("", "{", "[]", "3", '["resize"]', '["stdin", 3]', '["resize", {"width": [], "height": {}}]'):
                await channel.send_str(sent)
            await channel.send_str('["ping", "still there"]')
            answers = [await channel.receive(timeout=60)]
            while answers[-1].type is aiohttp.WSMsgType.BINARY:
                answers.append(await channel.receive(timeout=60))
            assert answers[-1].json() == ["pong", "still there"]
            if len(answers) == 1:
                assert (await channel.receive(timeout=60)).type is aiohttp.WSMsgType.BINARY
            (app,) = server.apps()
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            until(lambda: not is_alive(app), "the app ends when its server is killed")


async def test_ctrl_c_ends_the_server_and_the_apps_of_open_windows(data_dir: Path) -> None:
    with serving(data_dir) as server:
        path, cookie = server.enter()
        headers = {"Cookie": cookie, "Origin": server.origin}
        async with aiohttp.ClientSession(headers=headers) as session:
            channel = await session.ws_connect(f"{server.origin}{path}channel")
            await channel.receive(timeout=60)
            (app,) = server.apps()
            server.process.send_signal(signal.SIGINT)
            while (await channel.receive(timeout=60)).type is aiohttp.WSMsgType.BINARY:
                pass
            assert await asyncio.to_thread(server.process.wait, 60) == 0
        until(lambda: not is_alive(app), "the app has ended with its server")


def test_a_person_searches_and_approves_in_the_browser(data_dir: Path, workspace: Workspace, agent: Workspace) -> None:
    workspace.remember("Zebras wear stripes.", title="About zebras")
    workspace.remember("Herons stand still.", title="About herons")
    waiting = "walrus"
    agent.remember("Walrus rule from a page.", source_type="external", make_id=always(waiting))
    with serving(data_dir) as server, window() as browser:
        browser.open(server.url)
        assert "token" not in browser.page.url
        browser.press("2")
        browser.shows("About herons")
        browser.press("/")
        browser.until(lambda: "z Undo" not in browser.screen(), "letters are searched for")
        browser.press("zebra")
        browser.until(lambda: "About herons" not in browser.screen(), "zebras alone")
        browser.shows("Zebras wear stripes.")
        browser.page.keyboard.press("Enter")
        browser.shows("z Undo")  # letters are commands again
        browser.press("3")
        browser.shows("Walrus rule from a page.")
        assert workspace.get(waiting).status == "pending"
        browser.decide("a", lambda: workspace.get(waiting).status == "active")
        assert (workspace.get(waiting).status, workspace.get(waiting).stability) == ("active", "verified")
        browser.page.keyboard.press("Control+p")
        browser.shows("Search for commands")
        browser.press("screenshot")
        browser.until(lambda: "Save an SVG" in (shown := browser.screen()) and "key " not in shown, "it is found alone")
        browser.page.keyboard.press("Enter")
        browser.shows("Files are not downloaded from here")
        browser.press("2")
        browser.shows("About zebras")
        browser.press("E")
        browser.shows("Another program cannot be opened from here.")
        assert {address.split("/")[2] for address in browser.asked} == {server.authority}
        assert browser.complaints == []
        assert browser.page.evaluate("window.open('https://example.com')") is None
        assert browser.page.evaluate("document.cookie") == ""

        browser.press("q")
        browser.page.wait_for_selector("body.-closed #again")
        until(lambda: server.apps() == [], "the app has ended")
        browser.page.click("#again")
        browser.wait()
        browser.shows("memento")


@pytest.mark.deep
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900)], ids=["phone", "desk"])
def test_a_window_of_a_phone_and_one_of_a_desk_are_filled_and_nothing_lies_beside_them(
    data_dir: Path, workspace: Workspace, width: int, height: int
) -> None:
    workspace.remember("Herons stand still.", title="About herons")
    with serving(data_dir) as server, window(width, height) as browser:
        browser.open(server.url)
        browser.press("2")
        browser.shows("About herons")
        browser.shows("Herons stand still.")
        room = browser.page.evaluate(
            "() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight,"
            " document.querySelector('.xterm-screen').getBoundingClientRect().right]"
        )
        assert room[0] <= width
        assert room[1] <= height
        assert width - 40 < room[2] <= width
        browser.press("3")
        browser.shows("All decided.")
        assert browser.complaints == []
