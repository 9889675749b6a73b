"""The resident daemon: one per user, it keeps everything warm and answers hooks over a local socket.

    protocol.py    the frames                     connection.py  one request on its way
    server.py      the loop, `Daemon`             pool.py        the threads that do the work
    places.py      socket, lock, stamp            watch.py       reasons to leave
    recorder.py    what it counts and records     log.py         where its prints go
    process.py     `serve`: all of it together    control.py     start, stop, status from outside

Nothing here decides what an agent sees: a handler does, and where it is late, broken or overrun the answer
is `skip`, which means as without Admit.
"""
