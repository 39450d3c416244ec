# Read by bin/daybook as long as there is no environment: finds a Python and makes the environment from it, or says
# in one sentence what is missing. $VENV, $ROOT and $self are those of bin/daybook.
# shellcheck shell=sh disable=SC2034,SC2154

# Sets $python to the real path of a Python >= 3.11, past version managers' shims, which are slow and come and go.
# A name proves nothing (a shim may stand for nothing), so each candidate is asked; the question is Python 2 too.
# An environment that is out of date still knows a Python. Asked in /: before 3.11 modules of the current folder count.
# Last is one that uv brought (`uv python install`), which is on no PATH; uv downloads nothing here.
found=nothing
find_python() {
    for candidate in ${DAYBOOK_PYTHON:+"$DAYBOOK_PYTHON"} "$VENV/bin/python" \
        python3.14 python3.13 python3.12 python3.11 python3 python; do
        ! is_new_enough "$candidate" || return 0
    done
    candidate=$(cd / && UV_PYTHON_DOWNLOADS=never uv python find --system '>=3.11' 2>/dev/null)
    if [ -n "$candidate" ] && is_new_enough "$candidate"; then return 0; fi
    python=''
    return 1
}

is_new_enough() {
    command -v "$1" >/dev/null 2>&1 || return 1
    python=$(cd / && "$1" -E -S -c 'import os, sys
print(os.path.realpath(sys.executable) if sys.version_info >= (3, 11) else sys.version.split()[0])' 2>/dev/null)
    case $python in
    /*) return 0 ;;
    [0-9]*) [ "$found" != nothing ] || found="$1, which is $python" ;;
    esac
    return 1
}

# What Claude Code is told without a Python, as JSON; a path that would need quoting there is left out.
without_python() {
    case $found in *[!A-Za-z0-9\ ,._/+-]*) found='one that is older' ;; esac
    install='Install it'
    ! command -v uv >/dev/null 2>&1 || install="Install it (uv is here: 'uv python install 3.13' in a terminal)"
    printf '"Daybook needs Python 3.11 or newer and found %s, so nothing is remembered. %s, then start a new session."' \
        "$found" "$install"
}

# Without a Python: an MCP server without tools. One that does not start at all is not tried again for 15 minutes, by
# when the Python may be there. An id that is neither a number nor a plain name is no client's.
serve_nothing() {
    while read -r line; do
        id=${line##*'"id":'} id=${id# } id=${id%%[,\}]*}
        case $id in '' | *[!A-Za-z0-9_\"-]*) continue ;; esac
        version=${line##*'"protocolVersion":"'} version=${version%%\"*}
        case $line in
        *'"initialize"'*)
            answer='"capabilities": {"tools": {}}, "serverInfo": {"name": "daybook", "version": "without-python"}'
            answer='"result": {"protocolVersion": "'$version'", "instructions": '$(without_python)", $answer}" ;;
        *'"tools/list"'*) answer='"result": {"tools": []}' ;;
        *'"ping"'*) answer='"result": {}' ;;
        *) answer='"error": {"code": -32601, "message": '$(without_python)'}' ;;
        esac
        printf '{"jsonrpc": "2.0", "id": %s, %s}\n' "$id" "$answer"
    done
    exit 0
}

# Finds a Python and a folder to work in; says what is missing. Nothing that we did not make is ever written over.
prepare() {
    ! is_replaced || fail "it was updated while this session ran. Type /reload-plugins, or start a new session."
    [ -n "$python" ] || find_python || fail "Python 3.11 or newer is needed; found $found. Install it, then run this again."
    mkdir -p "$VENV" 2>/dev/null && [ -w "$VENV" ] || fail "cannot write to $VENV; set DAYBOOK_VENV to another folder."
    [ -z "$(ls -A "$VENV")" ] || [ -e "$VENV/.daybook-lock" ] ||
        fail "$VENV was not made by Daybook. Remove it, or set DAYBOOK_VENV to another folder."
    command -v uv >/dev/null 2>&1 || can_make 2>/dev/null || fail "$CANNOT_MAKE"
    : >>"$VENV/.daybook-lock"
}
can_make() { "$python" -I -c 'import ensurepip, venv'; } # isolated: not from the current folder, which is a repository
CANNOT_MAKE='this Python cannot make environments. Install its venv package (python3-venv on Debian and Ubuntu), or uv.'

# Says in one sentence why the environment could not be made and what helps, here and to the sessions to come. What was
# half made goes: it may be what the disk was filled with.
fail_with_log() {
    tail -n 12 "$VENV/setup.log" >&2 2>/dev/null
    why=$(PYTHONPATH=$ROOT "$python" -B -P -s -S -m mcp_server.doors.set_up_problem "$VENV" 2>/dev/null)
    why=${why:-its Python environment could not be made.}
    for made in "$VENV"/*; do
        [ "$made" = "$VENV/setup.log" ] || rm -rf "$made"
    done
    { printf '%s\n' "$why" >"$VENV/.daybook-failed"; } 2>/dev/null
    fail "$why The whole log is $VENV/setup.log"
}

# What the hook $1 tells of a set-up that failed before: each start of a session all, a prompt what nobody was told.
# An empty file is one that the disk had no room for.
failed_before() {
    [ -f "$VENV/.daybook-failed" ] || return 0
    why=$(cat "$VENV/.daybook-failed")
    why=${why:-the disk is full. Make room for its Python environment, some 350 MB in $VENV.}
    if [ "$1" != SessionStart ]; then
        [ "$1" = UserPromptSubmit ] && [ "$why" != "$(cat "$VENV/.daybook-told" 2>/dev/null)" ] || return 0
    fi
    { printf '%s\n' "$why" >"$VENV/.daybook-told"; } 2>/dev/null || [ "$1" = SessionStart ] || return 0
    printf '%s' "$why"
}

with_our_list() {
    printf '%s\n' "$ROOT" >"$VENV/.daybook-root" && cp "$ROOT/requirements.txt" "$VENV/requirements.txt"
}

with_uv() {
    command -v uv && uv venv --allow-existing --python "$python" "$VENV" &&
        uv pip install --python "$VENV/bin/python" "$@"
}

with_pip() {
    can_make || { echo "$CANNOT_MAKE"; return 1; }
    "$python" -m venv "$VENV" &&
        "$VENV/bin/python" -m pip install --disable-pip-version-check --no-user --no-compile -q "$@"
}

# Makes the environment unless it is ready, one process at a time. The lock is the kernel's, on descriptor 9 of this
# subshell and of the installers it starts: it ends with the last of them, however they end, so it is never stale.
# What was left half made has no .daybook-ready, and is made anew. uv does not read pip's settings, so pip is asked
# when uv fails. $@: what to install besides, as the installer's arguments; then the environment may be ready before.
# It happens in /, because uv reads the settings, and Python the modules, of the folder that it is in.
set_up() (
    prepare
    cd /
    say "setting up its Python environment (once, about a minute) ..."
    exec 9>>"$VENV/.daybook-lock"
    "$python" -c 'import fcntl; fcntl.flock(1, fcntl.LOCK_EX)' >&9
    if ! ready; then
        rm -rf "$VENV/.daybook-ready" "$VENV"/*
    elif [ $# -eq 0 ]; then
        exit 0 # another process made it while we waited
    fi
    set -- -r "$VENV/requirements.txt" "$@"
    { with_our_list && { with_uv "$@" || with_pip "$@"; }; } >"$VENV/setup.log" 2>&1 </dev/null || fail_with_log
    keep_bytecode_out_of_plugin
    "$VENV/bin/python" -m compileall -q -j 0 "$VENV/lib" "$ROOT/mcp_server" >>"$VENV/setup.log" 2>&1 </dev/null
    mv "$VENV/requirements.txt" "$VENV/.daybook-ready"
    rm -f "$VENV/.daybook-failed" "$VENV/.daybook-told"
)

# Whether another copy of Daybook, which is still there, made this environment from other requirements. A command does
# not take it away: who is told so decides which copy has it.
is_anothers() {
    maker=$(cat "$VENV/.daybook-root" 2>/dev/null)
    [ -n "$maker" ] && [ -x "$maker/bin/daybook" ] && ! [ "$maker" -ef "$ROOT" ]
}

# Whether this is the copy from before an update, in a session that goes on: Claude Code has the maker of the environment
# installed, and no longer this copy. Else each start of a session would take the environment from the other copy.
is_replaced() {
    is_anothers || return 1
    case $(cat "${ROOT%/cache/*}/installed_plugins.json" 2>/dev/null) in
    *"\"$ROOT\""*) return 1 ;;
    *"\"$maker\""*) return 0 ;;
    esac
    return 1
}

# The same in a process of its own session, which outlives us and keeps none of our streams open. Python starts it
# because macOS has no setsid command.
set_up_detached() {
    DAYBOOK_VENV=$VENV DAYBOOK_PYTHON=$python "$python" -P -s -c 'import os, sys
os.setsid()
os.execv("/bin/sh", ["sh", *sys.argv[1:]])' "$self" setup-environment </dev/null >/dev/null 2>&1 &
}
