// Command release makes what is published of the command line: for each system an archive with the program, its licence
// and the notices of the modules that it is linked with, a list of these modules (SBOM, in CycloneDX), and checksums of
// all of them. `make release` runs it. The version and the revision are those that go build takes from the repository.
package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// checksumFile is the file with the checksums of a release.
const checksumFile = "SHA256SUMS"

// program is the package that is released.
const program = "./cmd/sluice"

// target is a system that the program is built for.
type target struct{ os, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

func main() {
	out := flag.String("out", "dist", "folder for the files; an earlier release in it is removed")
	flag.Parse()
	if err := release(*out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release writes all files into a folder. The current folder must be the root of the repository.
func release(out string) (err error) {
	if err := checkReplaceable(out); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(out)) // half a release is none
		}
	}()
	for _, t := range targets {
		if err := releaseFor(t, out); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
	}
	return writeChecksums(out)
}

// checkReplaceable returns an error for a folder that holds anything but an earlier release, which is known by its
// checksums: the folder is removed.
func checkReplaceable(out string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, checksumFile)); err != nil {
		return fmt.Errorf("%s is not empty and has no release (%s): name another folder, or empty it", out,
			checksumFile)
	}
	return nil
}

// releaseFor writes the archive and the SBOM of one system.
func releaseFor(t target, out string) error {
	binary := filepath.Join(out, "sluice")
	defer os.Remove(binary)
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w", "-o", binary, program)
	build.Env, build.Stderr = t.environment(), os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	if v := info.Main.Version; v == "" || v == "(devel)" {
		return errors.New("the version is unknown: run this in a clone of the repository, with its tags, not in a " +
			"worktree")
	}
	modules, err := linkedModules(t)
	if err != nil {
		return err
	}
	if err := checkLinked(info, modules); err != nil {
		return err
	}
	notices, err := collectNotices(modules)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("sluice_%s_%s_%s", strings.TrimPrefix(info.Main.Version, "v"), t.os, t.arch)
	text, err := sbom(info, modules, t)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, name+".cdx.json"), text, 0o644); err != nil {
		return err
	}
	fmt.Println(filepath.Join(out, name+".tar.gz"))
	return writeArchive(filepath.Join(out, name+".tar.gz"), name, revisionTime(info), []archived{
		{name: "sluice", file: binary, mode: 0o755},
		{name: "LICENSE", file: "LICENSE", mode: 0o644},
		{name: "NOTICE", file: "NOTICE", mode: 0o644},
		{name: "THIRD_PARTY_NOTICES.txt", content: notices, mode: 0o644},
	})
}

// environment is that of this process with the settings of a build for the target.
func (t target) environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+t.os, "GOARCH="+t.arch)
}

// checkLinked returns an error if a program has modules that the list of its packages does not have.
func checkLinked(info *debug.BuildInfo, modules []module) error {
	for _, m := range info.Deps {
		if !slices.ContainsFunc(modules, func(known module) bool {
			return known.Path == m.Path &&
				known.Version == m.Version
		}) {
			return fmt.Errorf("the program is linked with %s %s, which go list does not name", m.Path, m.Version)
		}
	}
	return nil
}

// revisionTime returns the time of the revision that a program was built from, so that archives of the same revision
// have the same bytes.
func revisionTime(info *debug.BuildInfo) time.Time {
	at, err := time.Parse(time.RFC3339, setting(info, "vcs.time"))
	if err != nil {
		return time.Unix(0, 0).UTC()
	}
	return at
}

// setting returns a setting of a build, empty if it has none of the name.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// writeChecksums writes SHA256SUMS, as sha256sum -c reads it, for the files of a folder.
func writeChecksums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	var sums strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, checksumFile), []byte(sums.String()), 0o644)
}
