# What the shell tests share, to be sourced: `. "$(dirname "$0")/../expect.sh"`.
#
# $work is a folder for the test alone. What a program said lies there as stdout, stderr, said or log.
work=$(mktemp -d "${TMPDIR:-/tmp}/gradus_test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

# wrong TEXT...: notes a failure, and shows what was said.
wrong() {
  echo "FAILED: $*"
  for said in stdout stderr said log; do
    [ ! -f "$work/$said" ] || sed "s/^/    $said: /" "$work/$said"
  done
  failures=$((failures + 1))
}

# fails NAME PART-OF-THE-MESSAGE COMMAND...: the command fails, and says so on stderr.
fails() {
  name=$1 part=$2
  shift 2
  message=$("$@" 2>&1 > /dev/null) && wrong "$name: exit code 0"
  case $message in
    *"$part"*) ;;
    *) wrong "$name: '$message' lacks '$part'" ;;
  esac
}

# finish: the last line of a test.
finish() {
  [ $failures -eq 0 ] || exit 1
  echo "$(basename "$0" .sh): all as expected"
  exit 0
}
