#!/bin/bash
# Proves the README on a fresh machine: for each command, a new Debian with nothing but git and apt,
# a clean clone inside, and that one command.
#
#   sudo tests/project/fresh/chroot.sh [--working-tree] [--suite NAME] [--keep] [COMMAND...]
#
#   --working-tree  clone what lies in the work tree, uncommitted files too (default: HEAD)
#   --suite NAME    the release to install (default: bookworm)
#   --keep          leave the last tree standing, and say where
#   COMMAND         what to run in the clone (default: ./scripts/train, then ./scripts/test)
#
# Needs root and debootstrap. Packages come from where this host's own apt gets them; for a release
# that this host's apt does not know, say MIRROR=URL. Trees are made under ${TMPDIR:-/tmp}.
set -euo pipefail
cd "$(dirname "$0")/../../.."

suite=bookworm working_tree=no keep=no
while [ $# -gt 0 ]; do
  case $1 in
    --working-tree) working_tree=yes ;;
    --suite) suite=$2; shift ;;
    --keep) keep=yes ;;
    --help) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "$0: unknown option $1; see --help" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || set -- ./scripts/train ./scripts/test
[ "$(id -u)" = 0 ] || { echo "$0: needs root, for debootstrap and chroot" >&2; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/gradus-fresh.XXXXXX")
[ $keep = yes ] || trap 'rm -rf --one-file-system "$work"' EXIT

# "URI RELEASE COMPONENT" of every package list of this host that belongs to the release.
sources() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    grep -E "^[^ ]+ $suite(-updates|-security)? " | sort -u
}
mirror=${MIRROR:-$(sources | awk -v suite="$suite" '$2 == suite { print $1; exit }')}
[ -n "$mirror" ] || { echo "$0: this host's apt has no source for $suite; set MIRROR" >&2; exit 1; }

echo "== installing a bare $suite"
debootstrap --variant=minbase --include=git "$suite" "$work/base" "$mirror" \
  > "$work/debootstrap.log" || { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }
if [ -z "${MIRROR:-}" ]; then
  sources | sed 's/^/deb /' > "$work/base/etc/apt/sources.list"
fi
apt-config dump | grep '^Acquire::' > "$work/base/etc/apt/apt.conf.d/99host" || true
cp -L /etc/resolv.conf /etc/hosts "$work/base/etc/"
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then  # the host may trust a certificate of its own
  cp -L /etc/ssl/certs/ca-certificates.crt "$work/base/etc/apt/host.crt"
  echo 'Acquire::https::CaInfo "/etc/apt/host.crt";' >> "$work/base/etc/apt/apt.conf.d/99host"
fi

echo "== cloning the repository"
if [ $working_tree = yes ]; then
  mkdir "$work/tree"
  git ls-files -z --cached --others --exclude-standard | xargs -0 -I{} sh -c '[ ! -e "$1" ] || echo "$1"' _ {} |
    tar -cf - -T - | tar -xf - -C "$work/tree"
  git -C "$work/tree" init -q
  git -C "$work/tree" add -A
  git -C "$work/tree" -c user.name=fresh -c user.email=fresh@localhost commit -qm "the work tree"
  git clone -q --bare "$work/tree" "$work/base/srv/gradus.git"
else
  git clone -q --bare . "$work/base/srv/gradus.git"
fi

status=0
for command in "$@"; do
  echo "== a fresh machine runs: $command"
  rm -rf --one-file-system "$work/machine"
  cp -a --reflink=auto "$work/base" "$work/machine"
  start=$SECONDS
  # A private mount name space: /proc and /dev go when the command ends, however it ends.
  if unshare --mount --fork bash -c '
      mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && shift_to=$1 && shift
      exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM="${TERM:-dumb}" \
        chroot "$shift_to" bash -c "cd /root && git clone -q /srv/gradus.git && cd gradus && $*"
    ' _ "$work/machine" "$command" < /dev/null; then
    echo "== passed in $((SECONDS - start)) s: $command"
  else
    echo "== FAILED after $((SECONDS - start)) s: $command"
    status=1
  fi
done
[ $keep = no ] || echo "== kept: $work/machine"
exit $status
