"""The frame of every command: the lazy table of commands, errors, exit codes, pipes, crash logs.

A command is a click command named `command` in its own module; only the invoked one is imported. It returns
its exit code, or None for 0:

    0    done
    1    a finding or a verdict; standard output could not be written
    2    wrong usage, a wrong setting, or a file that cannot be read or written
    3    a bug in Admit, with a crash log
    130  interrupted
    141  the reader of the output went away (128 + SIGPIPE, as shells count)
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, TextIO, TypeVar

import click

from admit import __version__
from admit.errors import AdmitError, ConfigError, LedgerError, UsageError

DONE, FINDING, USAGE, BUG, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141

# name: (module, one line for `admit --help`)
COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "output": ("admit.cli.output", "Keep what matters of one large output, verbatim."),
        "run": ("admit.cli.run", "Run a command and keep what matters of its output."),
        "recall": ("admit.cli.recall", "Print a stored output, whole or in part."),
        "show": ("admit.cli.show", "Print what an agent saw of an output."),
        "why": ("admit.cli.why", "Explain one decision."),
        "status": ("admit.cli.status", "What happened at each door, and what it saved."),
        "init": ("admit.cli.init", "Wire Admit into a host; the change is shown first."),
        "selftest": ("admit.cli.selftest", "See with a host's own client what reaches the model."),
        "uninstall": ("admit.cli.uninstall", "Take Admit off this machine, and every host as it was."),
        "guide": ("admit.cli.guide", "Which guidance would be shown, and why; the files, and the pack."),
        "tools": (
            "admit.cli.tools",
            "Which of your tools a request is shown, and why; the catalog.",
        ),
        "evidence": ("admit.cli.evidence", "Review the claims of notes against what they link to."),
        "session": ("admit.cli.session", "What the relevance gate did in a session; replay it otherwise."),
        "audit": ("admit.cli.audit", "What Admit would have changed in the sessions you already have."),
        "report": ("admit.cli.report", "The record as one page for a browser."),
        "outputs": ("admit.cli.outputs", "The stored outputs: list, prune, estimate, report."),
        "lab": ("admit.cli.lab", "Choose a number honestly: plan, freeze, run, select, confirm, promote."),
        "ledger": ("admit.cli.ledger", "The written record: show, verify, recover, export, forget."),
        "judge": ("admit.cli.judge", "Who answers: list, check and ask the judges, keys and costs."),
        "doctor": ("admit.cli.doctor", "Find what is wrong, and say how to fix it."),
        "consent": ("admit.cli.consent", "Which door's texts may leave this machine, and where to."),
        "redact": ("admit.cli.redact", "Print a text as it would leave this machine, redacted."),
        "config": ("admit.cli.config", "Every setting, where it came from, and how to change it."),
        "daemon": ("admit.cli.daemon", "The resident process that answers hooks."),
        "hook": ("admit.cli.hook", "Serve one hook of a host, and print its answer."),
        "pause": ("admit.cli.pause", "Stop acting at every door, for a while or until resume."),
        "resume": ("admit.cli.resume", "End a pause."),
        "completion": ("admit.cli.completion", "Print the completion script for bash, zsh or fish."),
    }
)

# What to do about an error of the system; where nothing stands here, it is about rights.
ADVICE: Mapping[int, str] = MappingProxyType(
    {
        errno.ENOSPC: "make room on that disk, and try again",
        errno.EDQUOT: "make room under your quota, and try again",
        errno.EROFS: "it is read-only: XDG_STATE_HOME and XDG_CONFIG_HOME name other folders",
        errno.EMFILE: "raise the limit of open files (ulimit -n), and try again",
        errno.ENFILE: "too many files are open on this machine: close some, and try again",
    }
)

COMPLETE_VARIABLE = "_ADMIT_COMPLETE"

_F = TypeVar("_F", bound=Callable[..., Any])


class LazyGroup(click.Group):
    """A group that imports the module of a command when that command is invoked, and no other."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        return import_module(COMMANDS[cmd_name][0]).command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        raise click.UsageError(f"There is no command {name!r}.{nearest(name, COMMANDS)}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        items = [
            CompletionItem(name, help=summary)
            for name, (_, summary) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return items + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Admission control for an LLM agent's context: a counted budget, a judge with a deadline, a record.",
)
@click.version_option(__version__, message="admit %(version)s")
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Use this user file instead of ~/.config/admit/admit.toml.",
)
def admit(config_file: str | None) -> None:
    """Hold the commands together."""
    if config_file is not None:
        from admit.config.layers import use_user_file

        use_user_file(config_file)


def json_option(command: _F) -> _F:
    """Give a command `--json`, passed as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def print_json(value: object) -> None:
    """Print one JSON value, keys in the order given, with a newline; lone surrogates as escapes."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = json.dumps(value, indent=2, allow_nan=False)
    click.echo(text)


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 record`, `3 records`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def nearest(word: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, or nothing where no known word is near."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def run(args: Sequence[str]) -> int:
    """Run one command line and give its exit code; every error ends here, as text on stderr."""
    _fill_closed()
    code = _ended(args)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _silence(stream)
    return code


def _ended(args: Sequence[str]) -> int:
    try:
        code = _invoke(list(args))
        sys.stdout.flush()
        return code
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        return USAGE
    except (click.Abort, KeyboardInterrupt, EOFError):
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _silence(sys.stdout)
        return PIPE_CLOSED
    except AdmitError as error:
        _say(str(error))
        return _code_of(error)
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            return _system_fault(error)
        _say(crash_message(error))
        return BUG


def _system_fault(error: OSError) -> int:
    """Say what the system refused: nothing of Admit's own is wrong."""
    if _printing(error):
        _silence(sys.stdout)
        _say(f"standard output could not be written: {error.strerror}")
        return FINDING
    advice = ADVICE.get(error.errno or 0, "give this user the right to it, or make room, and try again")
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
    _say(f"{where}{error.strerror or error}; {advice}")
    return USAGE


def _printing(error: OSError) -> bool:
    """Whether it was raised while printing: by `click.echo`, or by the flush here."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and last.tb_frame.f_globals.get("__name__") in ("click.utils", __name__)


def _invoke(args: list[str]) -> int:
    if COMPLETE_VARIABLE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(admit, {}, "admit", COMPLETE_VARIABLE, os.environ[COMPLETE_VARIABLE])
    colour = False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
    try:
        with admit.make_context("admit", args, color=colour) as ctx:
            return admit.invoke(ctx) or DONE
    except click.exceptions.Exit as done:
        return done.exit_code


def _code_of(error: AdmitError) -> int:
    return USAGE if isinstance(error, (ConfigError, UsageError, LedgerError)) else FINDING


def _say(message: str) -> None:
    with suppress(OSError):  # where nobody listens, the exit code says it
        click.echo(f"admit: {message}", err=True)


def _fill_closed() -> None:
    """Take the numbers of what came closed of stdin, stdout and stderr, so that no file of ours gets them.

    What stands there cannot be read (stdin) or written (stdout), as before.
    """
    for fd, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, mode)  # the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _silence(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere: the interpreter flushes it once more at exit."""
    with suppress(OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, stream.fileno())
        os.close(devnull)
        stream.flush()


def crash_message(error: BaseException) -> str:
    """Write a crash log, and give the sentence that says what happened and where the log is."""
    from admit.cli.crash import write_crash_log

    what = f"this is a bug in Admit ({type(error).__name__})"
    try:
        return f"{what}. The details are in {write_crash_log(error)}; please report it."
    except OSError as fault:
        from traceback import extract_tb

        frames = extract_tb(error.__traceback__)[-1:]
        place = "".join(f" at {os.path.basename(one.filename)}:{one.lineno}" for one in frames)
        return f"{what}{place}, and its log could not be written ({fault}); please report it."
