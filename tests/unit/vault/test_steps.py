"""Steps run in order, errors end only themselves, and whoever waits is told."""

import threading
import time

from synapse_ls.vault.steps import Steps
from tests.support.indexing import PATIENCE


def made(pause: float | None = None) -> tuple[Steps, list[object]]:
    """Return steps that log what happens."""
    log: list[object] = []

    def idle() -> bool:
        log.append("idle")
        return len(log) == 1

    steps = Steps(idle, lambda: pause, lambda error: log.append(str(error)), lambda: log.append("done"))
    return steps, log


def fails() -> None:
    """Fail."""
    raise OSError("no")


def test_steps_run_in_the_order_asked_for() -> None:
    """Those asked for before the start, too; an error is told and the next step runs."""
    steps, log = made()
    steps.ask(lambda: log.append(1))
    steps.start()
    steps.ask(fails)
    steps.ask_and_wait(lambda: log.append(2))
    assert log[:5] == [1, "done", "no", "done", 2]
    steps.close()


def test_what_is_asked_for_after_the_end_is_left_undone() -> None:
    """And nobody waits for it."""
    steps, log = made()
    steps.start()
    steps.close()
    steps.ask_and_wait(lambda: log.append("never"))
    assert "never" not in log
    assert steps.wait_until(lambda: False, PATIENCE)


def test_waiting_ends_when_no_step_is_left_and_it_holds() -> None:
    """Or when the time is over."""
    steps, log = made()
    steps.start()
    go_on = threading.Event()
    steps.ask(lambda: log.append(go_on.wait(PATIENCE)))
    assert not steps.wait_until(lambda: True, 0.02)
    go_on.set()
    assert steps.wait_until(lambda: True, PATIENCE)
    assert log[0] is True
    assert not steps.wait_until(lambda: False, 0)
    steps.close()


def test_the_idle_step_runs_after_each_pause() -> None:
    """Until the end; it is told of only if something was done."""
    steps, log = made(0.01)
    steps.start()
    end = time.monotonic() + PATIENCE
    while len(log) < 4 and time.monotonic() < end:
        threading.Event().wait(0.01)
    steps.close()
    assert log[:4] == ["idle", "done", "idle", "idle"]
