package e2e

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// home is what most tests share: with chunks so small that every batch has many, where that can be set.
var home *Home

// where says which home it is.
var where = flag.String("home", "local", "local, sam, localstack, or a file of addresses and credentials (see docs/homes.md)")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func start(data string) (*Home, error) {
	switch *where {
	case "local":
		return startLocal(data, "ChunkBytes=8192")
	case "sam":
		return startSAM(data)
	case "localstack":
		return startLocalStack(data)
	}
	return readHome(*where)
}

// memory is where Linux keeps files in memory. The suite's data lies there if there is room: a DynamoDB server on a disk
// waits for the disk at every item, which tests nothing of ours.
const memory = "/dev/shm"

func run(m *testing.M) int {
	var room syscall.Statfs_t
	if err := syscall.Statfs(memory, &room); err == nil && int64(room.Bavail)*int64(room.Bsize) > 4<<30 && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", memory)
	}
	data, err := os.MkdirTemp("", "sluice-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(data)
	if api, err = watched(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if home, err = start(data); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	whole = flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == ""
	if err := home.leaveOut(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	passed := code == 0
	home.tellLeft()
	if undocumented := described(); code == 0 {
		code = undocumented
	}
	if err := home.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return max(code, judge(passed))
}

// whole is whether nobody asked for a part of the suite.
var whole bool

// judge looks at what the policies were used for: only a whole run that went well can tell what is too much.
func judge(passed bool) int {
	err := checkDenied()
	if err == nil && whole && passed && home.Name == "local" {
		err = checkUnused()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// described tells what was checked. A run of the whole suite fails if it left an operation out.
func described() int {
	line, never := api.summary()
	fmt.Println(line)
	if !whole || len(never) == 0 {
		return 0
	}
	fmt.Println("never called:", strings.Join(never, ", "))
	return 1
}

// another starts a local cloud of its own for a test that needs other settings.
func another(t *testing.T, parameters ...string) *Home {
	t.Helper()
	h, err := startLocal(t.TempDir(), parameters...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}
