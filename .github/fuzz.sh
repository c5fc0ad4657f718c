#!/usr/bin/env bash
# Lists and runs the fuzz tests of both modules.
#
#   .github/fuzz.sh list                        one line for each: module, package, function
#   .github/fuzz.sh json                        the same as a JSON array of objects, for a matrix of jobs
#   .github/fuzz.sh run MODULE PACKAGE FUNCTION DURATION
#   .github/fuzz.sh all DURATION                each of them in turn for that long
#
# A failing input is written to testdata/fuzz/FUNCTION of the package; commit it with the fix.
set -euo pipefail
cd "$(dirname "$0")/.."

list() {
	local module package
	for module in . local; do
		# Only packages that declare a fuzz test are asked: listing runs TestMain, which may start servers.
		(cd "$module" && git grep -l '^func Fuzz' -- '*_test.go' | xargs -r -n 1 dirname | sort -u) | while read -r package; do
			[ "$module" = local ] || [ "${package#local}" = "$package" ] || continue
			(cd "$module" && go test -list '^Fuzz' "./$package") | grep '^Fuzz' | sed "s|^|$module ./$package |"
		done
	done
}

# Go up to 1.26 sometimes takes the end of the time for a failure (go.dev/issue/75804). It then prints nothing else, and writes
# no failing input.
run() {
	local log status=0
	log=$(mktemp)
	(cd "$1" && go test -run '^$' -fuzz "^$3\$" -fuzztime "$4" "$2") | tee "$log" || status=$?
	if [ "$status" != 0 ] && grep -q '^ *context deadline exceeded$' "$log" && ! grep -q 'Failing input written' "$log"; then
		echo "The time was over and no input failed: this is go.dev/issue/75804, and counts as passed."
		status=0
	fi
	rm -f "$log"
	return "$status"
}

case "${1:-}" in
list) list ;;
json) list | awk 'BEGIN { printf "[" }
	{ printf "%s{\"module\":\"%s\",\"package\":\"%s\",\"function\":\"%s\"}", (NR > 1 ? "," : ""), $1, $2, $3 }
	END { print "]" }' ;;
run) shift && run "$@" ;;
all) list | while read -r module package function; do run "$module" "$package" "$function" "${2:?duration}" </dev/null; done ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
