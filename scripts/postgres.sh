#!/usr/bin/env bash
# A private PostgreSQL server with pgvector for tests, on Debian 12 or newer.
#
#   scripts/postgres.sh install        installs PostgreSQL and pgvector where they are missing (as root)
#   scripts/postgres.sh start [DIR]    makes a cluster in DIR (default: a new temporary directory), starts it on a free
#                                      port and prints, one a line:
#                                        SALIENT_POSTGRES_DIR=…   for stop
#                                        DATABASE_URL=…           as an owner that is no superuser
#                                        SUPERUSER_URL=…          as postgres
#   scripts/postgres.sh stop DIR       stops it and removes DIR
#
# The server trades safety for speed (no fsync): for tests only. With SALIENT_POSTGRES_FSYNC=on it does not, for
# measurements of what commits cost.
set -euo pipefail

log() { printf '%s\n' "$*" >&2; }
fail() { log "postgres.sh: $*"; exit 1; }

# The newest installed server's directory of programs, or nothing.
server_bin() {
  local candidates=(/usr/lib/postgresql/*/bin)
  [[ -x ${candidates[-1]}/initdb ]] || return 0
  printf '%s\n' "${candidates[@]}" | sort -V | tail -n 1
}

major_of() { "$1/pg_config" --version 2>/dev/null | sed 's/[^0-9]*\([0-9]*\).*/\1/' || basename "$(dirname "$1")"; }

has_pgvector() { [[ -e $("$1/pg_config" --sharedir)/extension/vector.control ]]; }

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2; }

install() {
  local bin major
  bin=$(server_bin)
  if [[ -n $bin && -x $bin/pg_config ]] && has_pgvector "$bin"; then return; fi
  [[ $EUID -eq 0 ]] || fail 'PostgreSQL with pgvector is missing; run as root to install it'
  apt-get update -qq >&2 || log 'some package lists are out of date'
  if [[ -z $bin ]]; then
    apt_install postgresql
    bin=$(server_bin)
    [[ -n $bin ]] || fail 'the package postgresql brought no server'
  fi
  major=$(basename "$(dirname "$bin")")
  if apt-cache policy "postgresql-$major-pgvector" | grep -q 'Candidate: [0-9]'; then
    apt_install "postgresql-$major-pgvector"
  else
    build_pgvector "$bin" "$major"
  fi
}

# Debian 12 has no package of pgvector; the source of Debian 13's is built against the installed server.
build_pgvector() {
  local bin=$1 major=$2 work uri apt
  apt_install "postgresql-server-dev-$major" make gcc libc6-dev xz-utils ca-certificates
  work=$(mktemp -d)
  trap "rm -rf '$work'" EXIT
  uri=$(debian_mirror)
  [[ -n $uri ]] || fail "no Debian mirror in the machine's apt sources"
  mkdir -p "$work"/{lists/partial,cache/archives/partial,parts}
  cat > "$work/parts/trixie.sources" <<SOURCES
Types: deb-src
URIs: $uri
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
  apt=(-o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/parts"
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o 'APT::Sandbox::User=root')
  (
    cd "$work"
    apt-get -qq "${apt[@]}" update >&2
    apt-get -qq "${apt[@]}" source --download-only pgvector >&2
    tar -xf pgvector_*.orig.tar.*
    cd pgvector-*/
    make -s -j"$(nproc)" with_llvm=no OPTFLAGS='' PG_CONFIG="$bin/pg_config" >&2
    make -s install with_llvm=no PG_CONFIG="$bin/pg_config" >&2
  )
}

# The mirror that the machine itself uses, from either format of apt's sources.
debian_mirror() {
  local found
  found=$(find /etc/apt/sources.list /etc/apt/sources.list.d -type f \( -name '*.list' -o -name '*.sources' \) \
    -exec cat {} + 2>/dev/null | grep -v '^[[:space:]]*#' | grep -oE 'https?://[^[:space:]]+/debian/?([[:space:]]|$)') || true
  found=${found%%$'\n'*}
  printf '%s' "${found//[[:space:]]/}"
}

# Runs a command as the user who may own a cluster: initdb refuses root.
as_owner() {
  if [[ $EUID -eq 0 ]]; then setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"; else "$@"; fi
}

start() {
  local dir=${1:-} bin port password attempt
  install
  bin=$(server_bin)
  if [[ -z $dir ]]; then dir=$(mktemp -d /tmp/salient-postgres.XXXXXX); else mkdir -p "$dir"; fi
  chmod 700 "$dir"
  [[ $EUID -ne 0 ]] || chown postgres:postgres "$dir"
  cd "$dir"
  as_owner "$bin/initdb" --pgdata="$dir/data" --username=postgres --encoding=UTF8 --locale=C.UTF-8 \
    --auth-local=trust --auth-host=scram-sha-256 --no-sync >&2
  cat >> "$dir/data/postgresql.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
unix_socket_directories = '$dir'
max_connections = 100
shared_buffers = 256MB
fsync = ${SALIENT_POSTGRES_FSYNC:-off}
synchronous_commit = ${SALIENT_POSTGRES_FSYNC:-off}
full_page_writes = ${SALIENT_POSTGRES_FSYNC:-off}
SETTINGS
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    port=$((20000 + RANDOM % 20000))
    if as_owner "$bin/pg_ctl" --pgdata="$dir/data" --log="$dir/log" --options="-p $port" --wait start >&2; then break; fi
    [[ $attempt -lt 10 ]] || { cat "$dir/log" >&2; fail 'the server does not start'; }
  done
  password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  as_owner "$bin/psql" --host="$dir" --port="$port" --username=postgres --quiet --no-psqlrc --set=ON_ERROR_STOP=1 >&2 <<SQL
\connect template1
-- pgvector is not a trusted extension: new databases have it from their template.
CREATE EXTENSION IF NOT EXISTS vector;
CREATE ROLE salient LOGIN CREATEDB CREATEROLE PASSWORD '$password';
CREATE DATABASE salient OWNER salient;
SQL
  printf 'SALIENT_POSTGRES_DIR=%s\n' "$dir"
  printf 'DATABASE_URL=postgres://salient:%s@127.0.0.1:%s/salient\n' "$password" "$port"
  printf 'SUPERUSER_URL=postgres://postgres@localhost:%s/postgres?host=%s\n' "$port" "$dir"
}

stop() {
  local dir=${1:-} bin
  [[ -n $dir && -f $dir/data/PG_VERSION ]] || fail "no cluster in '$dir'"
  bin=$(server_bin)
  cd /
  as_owner "$bin/pg_ctl" --pgdata="$dir/data" --mode=immediate --wait stop >&2 || log 'the server had stopped already'
  rm -rf "$dir"
}

case ${1:-} in
  install) install ;;
  start) start "${2:-}" ;;
  stop) stop "${2:-}" ;;
  *) fail 'usage: postgres.sh install | start [DIR] | stop DIR' ;;
esac
