#!/usr/bin/env bash
# Makes what is published of the command line, in dist/: for each system an archive with the program, its licence and the notices of
# the modules that it is linked with, and an SBOM in CycloneDX; for Linux also .deb and .rpm; and checksums of all. `make release` calls
# this, with the tools in bin/tools/release. It asks no network once the modules are downloaded. Two runs at one revision give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GOFLAGS= GOWORK=off CGO_ENABLED=0 LC_ALL=C TZ=UTC
tools=$PWD/bin/tools/release out=$PWD/dist work=$PWD/bin/release
if [ -e "$out" ] && [ ! -f "$out/SHA256SUMS" ] && [ -n "$(ls -A "$out")" ]; then
	echo "dist is not empty and has no release (SHA256SUMS): empty it." >&2
	exit 1
fi
rm -rf "$out" "$work" && mkdir -p "$out" "$work"
trap '[ -f "$out/SHA256SUMS" ] || rm -rf "$out"' EXIT # half a release is none
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# notices writes the licences of Go's standard library and of the linked modules, from a module's folder and from those of its linked
# packages. A module without a licence is an error: it may not be published.
notices() {
	local module folder top file texts
	echo "The program sluice contains the software named here, under the licences that follow each name."
	{
		echo "Go standard library $(go env GOVERSION)|$(go env GOROOT)|$(go env GOROOT)"
		go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}|{{.Dir}}|{{$.Dir}}{{end}}{{end}}' ./cmd/sluice
	} | while IFS='|' read -r module top folder; do
		[ -n "$module" ] || continue
		while [ "${#folder}" -gt "${#top}" ]; do
			echo "$module|$top|$folder" && folder=$(dirname "$folder")
		done
		echo "$module|$top|$top"
	done | sort -u >"$work/folders"
	cut -d'|' -f1,2 "$work/folders" | sort -u | while IFS='|' read -r module top; do
		texts=$(awk -F'|' -v module="$module" '$1 == module { print $3 }' "$work/folders" | while read -r folder; do
			find "$folder" -maxdepth 1 -type f ! -name '*.go' \
				-iregex '.*/\(licen[cs]e\|copying\|notice\|patents\)\([-.].*\)?'
		done | sort)
		[ -n "$texts" ] || { echo "$module has no licence" >&2; exit 1; }
		while read -r file; do
			printf '\n%080d\n%s, %s\n\n' 0 "$module" "${file#"$top"/}" | tr 0 = && cat "$file"
		done <<<"$texts"
	done
}

for system in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
	export GOOS=${system%/*} GOARCH=${system#*/}
	folder=$work/$GOOS-$GOARCH && mkdir "$folder"
	go build -trimpath -buildvcs=true -ldflags "-s -w" -o "$folder/sluice" ./cmd/sluice
	version=$(go version -m "$folder/sluice" | awk '$1 == "mod" { print $3 }')
	[[ $version = v* ]] || { echo "The version is unknown: run this in a clone of the repository with its tags." >&2; exit 1; }
	export VERSION=${version#v}
	name=sluice_${VERSION}_${GOOS}_$GOARCH
	cp LICENSE NOTICE "$folder" && notices >"$folder/THIRD_PARTY_NOTICES.txt"
	chmod 644 "$folder"/[A-Z]* && chmod 755 "$folder/sluice"
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --transform "s|^\.|$name|" \
		-C "$folder" -cf - . | gzip -n >"$out/$name.tar.gz"
	"$tools/cyclonedx-gomod" app -json -licenses -noserial -notimestamp -std -main cmd/sluice -output "$out/$name.cdx.json" .
	[ "$GOOS" = linux ] || continue
	for packager in deb rpm; do
		(cd "$folder" && "$tools/nfpm" package -f ../../../tools/release/nfpm.yaml -p "$packager" -t "$out/$name.$packager")
	done
done
(cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" . && ls)
