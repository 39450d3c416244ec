"""What keeps git from a remote, read from what it printed: the reason, and what the person does about it."""

import re

from mcp_server.core.addresses import shown_url
from mcp_server.core.errors import RemoteRefuses, RemoteUnavailable

LATER = "Nothing is lost. Look at the address and at your access to it, and try again."
BUSY = "Nothing is lost. Try again when the machine has less to do."  # where no remote is asked

_ADVICE = {
    r"terminal prompts disabled|Authentication failed": "Give git's credential helper name and password.",
    r"certificate": "Let git trust the host: its setting http.sslCAInfo names the file with the certificate.",
    r"Host key verification failed": "Connect to the host once with ssh, and say that you trust it.",
    r"Permission denied \(": "Give the host your ssh key; one with a passphrase must be in ssh-agent.",
    r"returned error: 403|read.only": "Let your account or your key read and write the repository.",
    r"repository '.*' not found|does not appear to be a git": "Correct the address, or make the repository.",
}
"""What git or ssh says → what the person does about it beforehand: in the background nobody can answer it."""
_LETS_NOBODY_IN = (
    r"terminal prompts disabled|Authentication failed|Permission denied \(|returned error: 40[13]"
)
_WAITS = "Nothing is lost: what is here waits. Correct that at the host, then run 'daybook remote sync'."
_REJECTED = re.compile(r"\[remote rejected\] \((.*)\)")
_REMOTE_SAYS = re.compile(r"^remote: *(\S.*?)\s*$", re.MULTILINE)
_REDIRECTED = r"error: 30[12378]\b"
_ENDED = "fatal: Could not read from remote repository"


def unreachable(stderr: str, act: str = "reached") -> RemoteUnavailable:
    """Return that the remote could not be *act*, why by what git said on *stderr*, and what to do."""
    before, ends_by_itself, _ = stderr.partition(_ENDED)  # what the other side or ssh said stands before it
    lines = [line.strip() for line in before.splitlines() if line.strip()]
    if re.search(_REDIRECTED, before):
        return RemoteUnavailable(
            "The remote redirects to another address, which Daybook does not follow.",
            "Nothing is lost. Remove the remote, and add the address at which the repository is: some hosts"
            " want '.git' at its end.",
        )
    fatal = next((line for line in lines if line.startswith(("fatal:", "error:", "ERROR:"))), "")
    reason = fatal or (lines[-1] if lines else ends_by_itself or "git gave no reason")
    advice = next((advice for pattern, advice in _ADVICE.items() if re.search(pattern, before)), "")
    kind = RemoteRefuses if re.search(_LETS_NOBODY_IN, before) else RemoteUnavailable
    return kind(
        f"The remote could not be {act}: {shown_url(reason).rstrip('.')}.",
        f"Nothing is lost. {advice}" if advice else LATER,
    )


def refused(out: str, stderr: str) -> RemoteRefuses | None:
    """Return that the remote takes no changes, in its own words, by what a push printed; None if it does."""
    if rejected := _REJECTED.search(out):
        why = "; ".join([rejected[1], *_REMOTE_SAYS.findall(stderr)])
        return RemoteRefuses(f"The remote refuses changes: {why.rstrip('.')}.", _WAITS)
    return None
