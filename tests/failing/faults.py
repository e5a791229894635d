"""What is made to fail, and how. PEPE_FAIL of the preloaded object takes CALL:N[+]:EFFECT (failing_calls.h)."""

from typing import NamedTuple


class Fault(NamedTuple):
    """One way in which one kind of call goes wrong."""

    call: str
    effect: str
    lasting: bool = False    # from the n-th call on, not the n-th alone
    harmless: bool = False   # what any caller must put up with: the run is to end as if nothing had been

    def setting(self, position):
        return f"{self.call}:{position}{'+' if self.lasting else ''}:{self.effect}"

    def __str__(self):
        return f"{self.call}:n{'+' if self.lasting else ''}:{self.effect}"


# Effects that the caller must put up with, then those that may cost something, then those that last.
_CALLS = {
    "send": ("EINTR EAGAIN short", "ECONNRESET EPIPE ENOMEM ENOBUFS", "ECONNRESET ENOMEM"),
    "recv": ("EINTR EAGAIN short", "ECONNRESET ETIMEDOUT ENOMEM", "ECONNRESET"),
    "read": ("EINTR short", "EAGAIN EIO ENOMEM", "EIO"),
    "write": ("EINTR EAGAIN short", "ENOSPC EIO EDQUOT EFBIG EPIPE", "ENOSPC"),
    "connect": ("", "EINTR EAGAIN ECONNREFUSED ENETUNREACH EADDRNOTAVAIL ETIMEDOUT ENOMEM", "EADDRNOTAVAIL"),
    "socket": ("", "EMFILE ENFILE ENOMEM ENOBUFS EACCES", "EMFILE"),
    "epoll_ctl": ("", "ENOMEM ENOSPC EPERM", "ENOSPC"),
    "epoll_wait": ("EINTR", "", ""),
    "epoll_create1": ("", "EMFILE ENFILE ENOMEM", "EMFILE"),
    "eventfd": ("", "EMFILE ENFILE ENOMEM", ""),
    "signalfd": ("", "EMFILE ENFILE ENOMEM", ""),
    "timerfd_create": ("", "EMFILE ENFILE ENOMEM", ""),
    "pipe2": ("", "EMFILE ENFILE", ""),
    "open": ("", "EINTR EMFILE ENFILE ENOMEM EACCES ENOENT EIO", "EMFILE"),
    "poll": ("EINTR", "ENOMEM", ""),
    "fstat": ("", "EIO ENOMEM", ""),
    "ftruncate": ("", "EIO EPERM", ""),
    "close": ("EINTR", "EIO ENOSPC EDQUOT", ""),
    "bind": ("", "EADDRNOTAVAIL ENOMEM", ""),
    "listen": ("", "EADDRNOTAVAIL", ""),
    "getsockopt": ("", "ENOBUFS", ""),
    "setsockopt": ("", "ENOBUFS ENOMEM", ""),
    "getsockname": ("", "ENOBUFS", ""),
    "getpeername": ("", "ENOBUFS", ""),
    "shutdown": ("", "ENOBUFS", ""),
    "getrlimit": ("EPERM", "", ""),
    "setrlimit": ("EPERM", "", ""),
    "pthread_create": ("", "EAGAIN ENOMEM", "EAGAIN"),
    "alloc": ("", "ENOMEM", "ENOMEM"),
}


def faults():
    """All of them."""
    table = []
    for call, (harmless, costly, lasting) in _CALLS.items():
        table += [Fault(call, effect, harmless=True) for effect in harmless.split()]
        table += [Fault(call, effect) for effect in costly.split()]
        table += [Fault(call, effect, lasting=True) for effect in lasting.split()]
    return table
