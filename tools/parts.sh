#!/usr/bin/env bash
# Builds, then runs targets of make one after the other, and prints the time of each. A target that fails does not keep the
# others from running. Arguments are the targets; make test and make verify call this.
set -uo pipefail
status=0 summary=

# part NAME COMMAND...: runs a command and adds a line to the summary.
part() {
	local name=$1 started=$SECONDS result=passed
	shift
	echo "== $name"
	"$@" || result=FAILED status=1
	summary+=$(printf '%-16s %s %4d s' "$name" "$result" $((SECONDS - started)))$'\n'
	[ $result = passed ]
}

# What comes from npm is installed while the functions are compiled. The programs come after them: two go builds at a time
# would compile the packages that they share twice.
build() { "$MAKE" --no-print-directory -j3 tools functions bin/console/built && "$MAKE" --no-print-directory build; }

if part build build; then
	for target in "$@"; do part "$target" "$MAKE" --no-print-directory --old-file=build "$target"; done
fi
printf '\n%s%-16s        %4d s\n' "$summary" all "$SECONDS"
exit $status
