# Answers many commands in one round trip. It is sent to `sh -s`, after a line `token=…` and before lines of
# `ask NUMBER GROUP SECONDS PROGRAM ARGUMENT…`; see remote.py for what comes back. POSIX: dash, bash, ksh and busybox run it alike.
# Nothing is written on the host: what a program prints goes straight through, between marks on both of its streams.

LC_ALL=C
PATH=${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin # a login by ssh often has no sbin, where lspci is
export LC_ALL PATH
stuck=' '

# The time since boot in seconds: the clock of the marks, and reading it starts no process.
clock() {
  up=0
  { read -r up rest </proc/uptime; } 2>/dev/null
}

# Both streams carry every mark, so that each can be cut into answers by itself. Nobody reads any more: leave, and ask nothing else.
mark() {
  clock
  printf '%s %s %s\n' "$token" "$up" "$*" || exit 0
  printf '%s %s %s\n' "$token" "$up" "$*" >&2 || exit 0
}

# A program that ran into its time limit is hung, and the others of its GROUP would hang with it: they are not started.
ask() {
  number=$1 group=$2 seconds=$3
  shift 3
  case $stuck in *" $group "*)
    mark skip "$number"
    return ;;
  esac
  mark begin "$number"
  begun=${up%.*}
  $limit ${limit:+"$seconds"} "$@" </dev/null
  code=$?
  [ "$code" -le 256 ] || code=$((code - 128)) # ksh has 256+n for death by signal n
  mark end "$number" "$code"
  case $code in 124 | 137 | 143) # timeout(1): its own code, or that of KILL and TERM
    [ $((${up%.*} - begun)) -lt "$((seconds - 1))" ] || stuck="$stuck$group " ;;
  esac
}

# coreutils and new busybox; busybox until 1.33; busybox until 1.29. Without any, only the far side of the connection keeps the time.
for limit in 'timeout -k 1' 'timeout' 'timeout -t'; do
  $limit 5 true </dev/null >/dev/null 2>&1 && break
  limit=
done

mark hello "$(date +%s 2>/dev/null)"
