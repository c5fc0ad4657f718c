package browsertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/environ"
	"sluice/internal/testcloud"
)

var (
	patience = flag.Duration("patience", time.Minute,
		"how long a test waits for what must come; a bound, not an expectation")
	update = flag.Bool("update", false, "write the screenshots of testdata/screenshots instead of comparing with them")
)

// parallelTests is how many tests run at the same time unless -parallel says otherwise, on two processors or more.
const parallelTests = "4"

// suite is what all tests share.
var suite struct {
	cloud   *testcloud.Cloud
	browser *chromium
	// repository is the root of the repository.
	repository string
}

func TestMain(m *testing.M) {
	flag.Parse()
	environ.Unset("SLUICE_", "AWS_")
	isGiven := false
	flag.Visit(func(f *flag.Flag) { isGiven = isGiven || f.Name == "test.parallel" })
	// Most of the time a test waits for something.
	if !isGiven {
		err := flag.Set("test.parallel", parallelTests)
		if err != nil {
			panic(err) // the flag is Go's own
		}
	}
	code, err := runSuite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// runSuite starts Chromium and a local cloud, runs the tests, and stops both.
func runSuite(m *testing.M) (code int, err error) {
	program, err := findChromium()
	if err != nil {
		return 1, err
	}
	if suite.repository, err = filepath.Abs("../.."); err != nil {
		return 1, err
	}
	folder, err := os.MkdirTemp("", "sluice-console-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	suite.cloud, err = testcloud.Start(ctx, filepath.Join(folder, "cloud"),
		[]string{"ChunkBytes=1048576", "WebhookFirstPause=1", "WebhookCollectTime=1"}, nil)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, suite.cloud.Stop()) }()
	if suite.browser, err = startBrowser(program, filepath.Join(folder, "profile")); err != nil {
		return 1, err
	}
	defer suite.browser.stop()
	return m.Run(), nil
}

// errNoChromium says what to do where the tests cannot run.
var errNoChromium = errors.New("no Chromium was found, in which the console's pages are tested: make test-console " +
	"installs one on Linux with x86_64; elsewhere install Chromium, or set CHROMIUM to the program")

// findChromium returns the browser's program: the one that the variable CHROMIUM names, else the one that the Makefile
// installs, else the first of the usual names.
func findChromium() (string, error) {
	names := []string{"../../bin/tools/chromium/chromium", "chromium", "chromium-browser", "google-chrome"}
	if given := os.Getenv("CHROMIUM"); given != "" {
		names = []string{given}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", errNoChromium
}
