#!/bin/bash
# mistakes.sh SOURCE COMPILER...: the compiler names each line of SOURCE that is marked as a mistake, in few lines.
source=$1
shift
marked=$(grep -n '// mistake:' "$source" | cut -d: -f1)
most=$((40 * $(wc -w <<< "$marked")))
out=$("$@" -fsyntax-only "$source" 2>&1)
status=0
for line in $marked; do
  grep -q "$(basename "$source"):$line:[0-9]*: error:" <<< "$out" || { echo "no error names line $line"; status=1; }
done
grep -q 'delete;  // name them: Linear(LinearOptions(3, 2).bias(false))' <<< "$out" || { echo "no line shows the options"; status=1; }
lines=$(wc -l <<< "$out")
[ "$lines" -le "$most" ] || { echo "$lines lines of errors, expected at most $most"; status=1; }
[ $status = 0 ] || echo "$out"
exit $status
