"""One queue for all that tells of changes."""

import threading
import time

import pytest

from synapse_ls.indexer.change_queue import ChangeQueue, Changes

PATIENCE = 10.0


@pytest.mark.parametrize(
    ("files", "folders", "taken"),
    [
        (["b.md", "a.md", "b.md"], [], Changes(("b.md", "a.md"), ())),
        ([], ["a/b", "a", "c", "a/b/c"], Changes((), ("a", "c"))),
        ([], ["a-b", "a/b", "a"], Changes((), ("a", "a-b"))),
        (["a/x.md", "ab/y.md", "a"], ["a"], Changes(("a/x.md", "ab/y.md"), ("a",))),
        (["a.md", "b/c.md"], ["b", ""], Changes(("a.md", "b/c.md"), ("",))),
        ([], [], Changes((), ())),
    ],
)
def test_changes_are_merged(files: list[str], folders: list[str], taken: Changes) -> None:
    """Files once and in order, even those in a folder that is walked: a walk does not see every edit."""
    queue = ChangeQueue()
    queue.add(files, folders)
    assert queue.take(wait=False) == taken
    assert len(queue) == 0


@pytest.mark.parametrize("folders", [True, False])
def test_too_many_changes_become_one_walk(*, folders: bool) -> None:
    """The queue holds a bounded number of paths, files or folders."""
    queue = ChangeQueue()
    for number in range(ChangeQueue.MAX_PATHS + 1):
        queue.add(*(([], [f"f{number}"]) if folders else ([f"f{number}.md"], [])))
    assert len(queue) == 1
    assert queue.take(wait=False) == Changes((), ("",))


def test_many_folders_are_merged_without_comparing_all_with_all() -> None:
    """As many as fit take no time worth telling."""
    queue = ChangeQueue()
    queue.add(files=[f"x/{number}.md" for number in range(900)], folders=[f"d{number}/e" for number in range(1_000)])
    started = time.monotonic()
    assert len(queue.take(wait=False).folders) == 1_000
    assert time.monotonic() - started < 0.5


def test_waiting_take_gets_what_comes() -> None:
    """A taker sleeps until something is added."""
    queue = ChangeQueue()
    taken: list[Changes] = []
    taker = threading.Thread(target=lambda: taken.append(queue.take(wait=True)))
    taker.start()
    assert queue.wait_idle(PATIENCE)
    queue.add(["a.md"])
    taker.join(PATIENCE)
    assert taken == [Changes(("a.md",), ())]


@pytest.mark.parametrize("how", ["wake", "close", "timeout"])
def test_waiting_take_ends_without_changes(how: str) -> None:
    """Other work, the end, or enough patience."""
    queue = ChangeQueue()
    taken: list[Changes] = []
    timeout = 0.01 if how == "timeout" else None
    taker = threading.Thread(target=lambda: taken.append(queue.take(wait=True, timeout=timeout)))
    taker.start()
    if how == "wake":
        queue.wake()
    if how == "close":
        queue.close()
    taker.join(PATIENCE)
    assert taken == [Changes((), ())]


def test_wake_before_take_is_not_lost() -> None:
    """It holds for one take."""
    queue = ChangeQueue()
    queue.wake()
    assert queue.take(wait=True) == Changes((), ())
    assert queue.wait_idle(0) is False


def test_closed_queue_never_blocks() -> None:
    """Neither takers nor those that wait for rest."""
    queue = ChangeQueue()
    queue.close()
    assert queue.wait_idle(None)
    assert queue.take(wait=True) == Changes((), ())
    assert queue.take(wait=True) == Changes((), ())


def test_rest_is_when_nothing_waits_and_the_taker_waits() -> None:
    """Not while work that was taken is still done."""
    queue = ChangeQueue()
    assert not queue.wait_idle(0), "nobody has looked yet"
    queue.add(["a.md"])
    queue.take(wait=False)
    assert not queue.wait_idle(0), "the taker is at work"
    threading.Thread(target=queue.take, kwargs={"wait": True}, daemon=True).start()
    assert queue.wait_idle(PATIENCE)
    queue.close()


def test_nothing_is_lost_between_many_tellers_and_one_taker() -> None:
    """Whoever waits after telling finds it done."""
    queue = ChangeQueue()
    done: set[str] = set()

    def work() -> None:
        while True:
            changes = queue.take(wait=True)
            done.update(changes.files)
            if changes.files == ("end",):
                return

    missed: list[str] = []

    def tell(name: str) -> None:
        for number in range(100):
            path = f"{name}{number}"
            queue.add([path])
            assert queue.wait_idle(PATIENCE)
            if path not in done:
                missed.append(path)

    worker = threading.Thread(target=work)
    tellers = [threading.Thread(target=tell, args=(name,)) for name in "abc"]
    for thread in (worker, *tellers):
        thread.start()
    for thread in tellers:
        thread.join()
    queue.add(["end"])
    worker.join(PATIENCE)
    assert missed == []
    assert len(done) == 301
