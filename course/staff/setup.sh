#!/usr/bin/env bash
# Makes the grader image: installs g++ (12 or newer), python3 and binutils, and builds what no submission changes.
set -euo pipefail

source_folder=$(cd "$(dirname "$0")" && pwd)

major() { "$1" -dumpversion 2>/dev/null | cut -d. -f1; }

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends g++ python3 binutils
if [ "$(major g++)" -lt 12 ]; then # Ubuntu 22.04 has g++ 11, and g++-12 beside it.
  apt-get install -y --no-install-recommends g++-12
fi
rm -rf /var/lib/apt/lists/*
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9) and "Python 3.9 or newer is needed: choose Ubuntu 22.04 or newer")'

# ./grade runs as this user, which can write neither the tests nor the results.
id grader >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin grader
mkdir -p /autograder/results /autograder/submission
chmod 755 "$source_folder"
chmod 700 /autograder/results
chmod 755 "$source_folder/run_autograder" "$source_folder/grade"

"$source_folder/run_autograder" --prepare
