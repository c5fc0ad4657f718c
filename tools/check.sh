#!/usr/bin/env bash
# Vets and tests the packages that a change touches and those that import them: what differs from the branch main, or without
# it from the last commit, and files that git does not know yet. The end-to-end suite is not part of it. make check calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
changed=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)
[ -n "$changed" ] || { echo "Nothing differs from $(git describe --always "$base")."; exit 0; }

# The folders of changed packages: that of a file, or the nearest one above it with Go files, as of test data.
folders=$(echo "$changed" | while read -r file; do
	folder=$(dirname "$file")
	until [ "$folder" = . ] || compgen -G "$folder/*.go" >/dev/null; do folder=$(dirname "$folder"); done
	case $folder in . | lab* | console/browsertest*) ;; *) echo "sluice/$folder" ;; esac
done | sort -u)
# A change of any other file, such as the template or a document, is one for the checks of the repository.
packages=$({ echo sluice/internal/repotest; echo "$folders"
	go list -f '{{$p := .ImportPath}}{{range .Imports}}{{.}} {{$p}}{{"\n"}}{{end}}{{range .TestImports}}{{.}} {{$p}}{{"\n"}}{{end}}{{range .XTestImports}}{{.}} {{$p}}{{"\n"}}{{end}}' \
		./... ./local/... | awk 'NR == FNR { wanted[$1]; next } $1 in wanted { print $2 }' <(echo "$folders") -
} | sort -u | grep -v -e '^$' -e '^sluice/e2e$')
go vet $packages
go test -vet=off $packages | { grep -v 'no test files' || true; }
