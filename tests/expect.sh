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
  message=$("$@" 2>&1 > /dev/null)
  code=$?
  [ $code -ne 0 ] || wrong "$name: exit code 0"
  case $message in
    *"$part"*) ;;
    *) wrong "$name: '$message' lacks '$part'" ;;
  esac
}

# exits CODE NAME PART-OF-THE-MESSAGE COMMAND...: the same, with that exit code.
exits() {
  wanted=$1
  shift
  fails "$@"
  [ $code -eq "$wanted" ] || wrong "$name: exit code $code, expected $wanted"
}

# exit_codes PROGRAM [ARGUMENTS...]: help and wrong options of an example; with arguments also a run
# whose output cannot be written.
exit_codes() {
  "$1" --help > "$work/help" || wrong "help: exit code $?"
  grep -q '^Exit code: 0; 1 after one line on stderr .*; 2 for wrong options.$' "$work/help" ||
    wrong "help does not say the exit codes"
  exits 2 "an unknown option" "--unknown" "$1" --unknown
  full=$("$1" --help 2>&1 > /dev/full) && wrong "help on a full disk: exit code 0"
  [ $# -gt 1 ] || return
  full=$("$@" 2>&1 > /dev/full)
  code=$?
  [ $code -eq 1 ] || wrong "a full disk: exit code $code, expected 1"
  case $full in
    *": cannot write to the standard output") ;;
    *) wrong "a full disk: '$full'" ;;
  esac
}

# finish: the last line of a test.
finish() {
  [ $failures -eq 0 ] || exit 1
  echo "$(basename "$0" .sh): all as expected"
  exit 0
}
