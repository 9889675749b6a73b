"""What every test needs of the process it runs in."""

from __future__ import annotations

import signal

# A shell starts what it puts in the background with these ignored, and every child would inherit that: no
# test of Ctrl-C could end. A handler of our own becomes the default in a child.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
