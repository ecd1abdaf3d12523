"""The command line: puts the parts together and shows answers on a terminal."""

import argparse
import importlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from synapse_ls import __version__
from synapse_ls.cli import terminal
from synapse_ls.core.errors import SynapseError

# command -> (the module that has it, what it does)
_COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("serving", "serve an editor over standard input and output"),
    "index": ("commands", "bring a vault's index up to date"),
    "search": ("commands", "search a vault"),
    "related": ("commands", "show what is related to a note, and why"),
    "status": ("commands", "show the state of a vault's index"),
    "doctor": ("doctor", "check the installation and say what to do"),
    "models": ("models", "list, download and remove models of meaning"),
    "forget": ("commands", "remove a vault's index; the notes are not touched"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns 0 if it ran, 2 for a wrong call or an unfit environment, 130 or 143 if it was told to stop.
    """
    if arguments is None:
        _speak_utf8()
    terminal.prepare()
    os.umask(0o077)  # the files made from now on hold the text of notes
    try:
        options = _parsed(sys.argv[1:] if arguments is None else arguments)
    except SystemExit as ended:  # the parser's: help was asked for, or the call is wrong
        return terminal.finish(ended.code if isinstance(ended.code, int) else 2)
    handler = logging.StreamHandler()
    if options.command == "serve":
        handler.setFormatter(logging.Formatter("synapse-ls: %(message)s"))
    else:
        handler.setFormatter(terminal.OneLine())
        for ending in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(ending) is not signal.SIG_IGN:  # as a shell has it for what runs in the background
                signal.signal(ending, _stop)
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    code = terminal.finish(_run(options))
    if _stopped_by:
        # A model may still be loading in a thread, in the middle of which the interpreter would abort.
        os._exit(code)
    return code


def _speak_utf8() -> None:
    """Begin again in Python's UTF-8 mode if the locale has another encoding: the names of notes are told by it."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.execve(  # noqa: S606 - this very command
            sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHONUTF8": "1"}
        )


def _run(options: argparse.Namespace) -> int:
    """Run a command; whatever goes wrong is told in one line."""
    try:
        return _runner(options.command)(options)
    except SynapseError as error:
        terminal.say(str(error))
    except KeyboardInterrupt:
        terminal.say("stopped; what is indexed so far is kept")
        return 128 + (_stopped_by[0] if _stopped_by else signal.SIGINT)
    except BrokenPipeError:
        return 0
    except ImportError as error:
        terminal.say(f"the installation is broken ({error}); run: synapse-ls doctor")
    except OSError as error:
        place = "" if error.filename is None else f": {error.filename}"
        terminal.say(f"{error.strerror or error}{place}; run: synapse-ls doctor")
    except Exception as error:
        told = f"{options.command} failed ({type(error).__name__}: {error}); run: synapse-ls doctor"
        logging.getLogger(__name__).exception("%s", told)  # the trace is for a server's log
    return 2


# The signal that has asked for the end, if one has.
_stopped_by: list[int] = []


def _stop(number: int, _frame: object) -> None:
    """End the command: the first signal lets it finish what is in work, another one ends the process at once."""
    if _stopped_by:
        os._exit(128 + _stopped_by[0])
    _stopped_by.append(number)
    raise KeyboardInterrupt


def _runner(command: str) -> Callable[[argparse.Namespace], int]:
    # Each command imports what it needs and no more: an editor waits for `serve`.
    module = importlib.import_module(f"synapse_ls.cli.{_COMMANDS[command][0]}")
    run: Callable[[argparse.Namespace], int] = getattr(module, command)
    return run


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser, wordy = _parsers()
    command = arguments[0] if arguments else ""
    if command not in wordy:
        return parser.parse_args(arguments)
    # Options may stand between the vault and what is asked for.
    refuse = wordy[command].error
    options = wordy[command].parse_intermixed_args(arguments[1:])
    options.command = command
    *vault, options.asked = options.words
    try:
        options.vault = _folder(vault[0]) if vault else Path()
    except argparse.ArgumentTypeError as error:
        refuse(str(error))
    what = "query" if command == "search" else "note"
    if len(vault) > 1:
        refuse(f'put the {what} in quotes: synapse-ls {command} VAULT "several words"')
    if not vault and os.path.isdir(options.asked):  # noqa: PTH112 - of what no folder can be called it says no
        begun = f"synapse-ls {command} {options.asked}"
        refuse(
            f"what is to be found in {options.asked}? run: {begun} QUERY"
            if command == "search"
            else f"which note of {options.asked} is meant? run: {begun} NOTE"
        )
    return options


class _Parser(argparse.ArgumentParser):
    """A parser that tells a wrong call in one line."""

    def error(self, message: str) -> NoReturn:
        hint = "" if "run: " in message or "quotes" in message else f" (see {self.prog} --help)"
        if "unrecognized arguments" in message and self.prog.endswith(("search", "related")):
            what = "query" if self.prog.endswith("search") else "note"
            hint = f"; put -- before a vault and a {what} that starts with a dash"
        self.exit(2, f"synapse-ls: {message}{hint}\n")


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of all commands, and those of ``search`` and ``related``, which have a way with words."""
    parser = _Parser(
        prog="synapse-ls",
        description="Search folders of Markdown notes by words, meaning and links. Everything stays here.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"synapse-ls {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    made = {
        name: commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        for name, (_, text) in _COMMANDS.items()
    }

    way = made["serve"].add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="use standard input and output (the default)")
    way.add_argument(
        "--tcp", metavar="HOST:PORT", help="listen on a loopback address for one editor; port 0 takes any that is free"
    )
    made["serve"].add_argument(
        "--log-level",
        choices=("error", "warning", "info", "debug"),
        default="info",
        help="what goes into the log file in the cache folder (default: %(default)s)",
    )
    for name in ("index", "status", "forget"):
        made[name].add_argument(
            "vault", nargs="?", type=_folder, default=Path(), help="the folder of notes (default: the current folder)"
        )
    made["index"].add_argument("--rebuild", action="store_true", help="make the index anew")
    made["doctor"].add_argument("vault", nargs="?", type=_folder, help="a folder of notes to look at as well")
    search = made["search"]
    search.usage = (
        "synapse-ls search [VAULT] QUERY [-n N] [--mode MODE] [--near NOTE] [--rerank | --no-rerank] [--explain] "
        "[--set KEY=VALUE] [--json]"
    )
    search.add_argument(
        "words",
        nargs="+",
        metavar="[VAULT] QUERY",
        help='the folder of notes (default: the current folder); words, a question, "a phrase", -without, tag:x, '
        "path:folder/, title:x",
    )
    search.add_argument("--mode", choices=("hybrid", "lexical", "semantic"), default="hybrid", help="which legs search")
    search.add_argument("--near", metavar="NOTE", help="prefer notes near this one by links")
    search.add_argument(
        "--rerank",
        action=argparse.BooleanOptionalAction,
        help="have a reranker judge the first notes, or not (default: as the setting rerank.enabled says)",
    )
    search.add_argument("--explain", action="store_true", help="show each leg's rank")
    related = made["related"]
    related.usage = "synapse-ls related [VAULT] NOTE[#HEADING] [-n N] [--json]"
    related.add_argument(
        "words",
        nargs="+",
        metavar="[VAULT] NOTE[#HEADING]",
        help="the folder of notes (default: the current folder); a note's path, with a heading for one of its sections",
    )
    for name in ("search", "related"):
        made[name].add_argument("-n", type=_count, metavar="N", dest="limit", help="at most N notes (1 to 100)")
    models = _models(made["models"])
    for name in ("index", "search", "related", "status"):
        made[name].add_argument(
            "--set",
            action="append",
            default=[],
            type=_setting,
            metavar="KEY=VALUE",
            help="a setting, as in an editor's",
        )
    for made_parser in (
        *(made[name] for name in ("index", "search", "related", "status", "doctor", "forget")),
        *models,
    ):
        made_parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser, {"search": search, "related": related}


def _folder(text: str) -> Path:
    if not text:  # it would be the current folder, which a script with an empty variable does not mean
        raise argparse.ArgumentTypeError(
            "the vault has no name; give the folder that holds your notes, or . for this one"
        )
    return Path(text)


def _models(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Fill in the parser of ``models``; returns those of its actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=_Parser)
    texts = {
        "list": "show the models there are",
        "pull": "download a model, after asking",
        "remove": "remove a downloaded model",
    }
    made = {
        name: actions.add_parser(name, help=text, description=text, allow_abbrev=False) for name, text in texts.items()
    }
    made["list"].add_argument("--all", action="store_true", help="with the models of fastembed's list")
    for name in ("pull", "remove"):
        made[name].add_argument("name", metavar="NAME", help="a name of models list")
    made["pull"].add_argument("--yes", action="store_true", help="do not ask: size, licence and source are known")
    return list(made.values())


def _setting(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE, such as embedding.model=none")
    try:
        return key.strip(), json.loads(value)
    except ValueError:
        return key.strip(), value


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:  # noqa: PLR2004 - the contract's bounds
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 100")
    return int(text)
