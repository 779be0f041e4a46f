"""Embedded form: two agents on one laptop share one memory, and killing one harms nobody."""

import os
from pathlib import Path

from dormouse.adapters.data_folder.server_file import SERVER_FILE
from tests.contract.ownership.agent import Agent, agents
from tests.contract.program import Program, is_alive, kill, wait_until


def servers_of(program: Program) -> list[int]:
    """Processes that run `serve` on this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            settings = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"serve" in words and f"DORMOUSE_DATA_DIR={program.folder}".encode() in settings:
            found.append(int(process.name))
    return found


def test_agents_that_race_to_start_it_end_with_one_server_and_one_memory(program: Program) -> None:
    with agents(program, 4) as racers:
        for racer in racers:
            assert racer.shake_hands()["result"]["serverInfo"]["name"] == "dormouse"
        racers[0].call("remember", data="The launch code word is hedgehog.")

        for racer in racers:
            assert "hedgehog" in racer.call("recall", query="What is the launch code word?")
        wait_until(lambda: servers_of(program) == [program.address.pid])


def test_killing_one_agent_harms_no_other(program: Program) -> None:
    with agents(program, 2) as (first, second):
        first.shake_hands()
        second.shake_hands()
        first.call("remember", data="The launch code word is hedgehog.")

        first.process.kill()

        assert "hedgehog" in second.call("recall", query="What is the launch code word?")


def test_when_the_server_is_killed_the_agents_start_another_and_go_on(program: Program) -> None:
    with agents(program, 2) as (first, second):
        first.shake_hands()
        second.shake_hands()
        first.call("remember", data="The launch code word is hedgehog.")
        killed = program.address.pid

        kill(killed)

        for agent in (first, second):
            assert "hedgehog" in agent.call("recall", query="What is the launch code word?")
        assert program.address.pid != killed
        wait_until(lambda: servers_of(program) == [program.address.pid])


def test_an_agent_that_leaves_ends_its_relay_and_not_the_server(program: Program) -> None:
    agent = Agent(program)
    agent.shake_hands()
    pid = program.address.pid

    code = agent.leave()

    assert code == 0
    assert is_alive(pid)
    assert os.getsid(pid) == pid
    for pipe in (agent.process.stdout, agent.process.stderr):
        assert pipe
        pipe.close()


def test_what_opens_the_server_is_for_its_user_alone(program: Program) -> None:
    program.run("remember", "-", "--name", "a.txt", given=b"The launch code word is hedgehog.")

    for name in (SERVER_FILE, "serve.log", "owner.lock"):
        assert (program.folder / name).stat().st_mode & 0o077 == 0, name
    assert program.folder.stat().st_mode & 0o077 == 0
