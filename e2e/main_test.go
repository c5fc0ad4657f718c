package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/environ"
)

// environment is what most tests share. Its chunks are so small that every batch has many, where that can be set.
var environment *Environment

var environmentName = flag.String("environment", "local",
	"local, sam, localstack, or a file of addresses and credentials (see "+environmentsDocument+")")

// environmentsDocument describes the environments, and which of them lacks what.
const environmentsDocument = "docs/environments.md"

// parallelTests is how many tests run at once unless -parallel says otherwise: more than there are processors, because
// most of them wait for a batch.
const parallelTests = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	environ.Unset("SLUICE_")
	if *environmentName == "local" {
		environ.Unset("AWS_") // which lead to LocalStack, or to the account of a service
	}
	code, err := runSuite(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func runSuite(m *testing.M) (code int, err error) {
	preferMemoryForData()
	if !isFlagGiven("test.parallel") {
		flag.Set("test.parallel", parallelTests)
	}
	folder, remove, err := newSuiteFolder()
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if contract, err = installContractTransport(); err != nil {
		return 1, err
	}
	if environment, err = startEnvironment(filepath.Join(folder, "shared")); err != nil {
		return 1, err
	}
	code = m.Run()
	passed := code == 0
	isWhole := !isFlagGiven("test.run") && !isFlagGiven("test.skip")
	unsupported.print()
	err = errors.Join(checkOperationsCalled(isWhole), environment.stop(), stopSharedClouds(),
		checkGrants(isWhole && passed))
	return code, err
}

// startEnvironment starts, or finds, the environment that -environment names.
func startEnvironment(data string) (*Environment, error) {
	switch *environmentName {
	case "local":
		return startLocalCloud(data, "--set", "ChunkBytes=8192", "--set", "UploadOrigins="+pageOrigin,
			"--set", "WebhookFirstPause=1", "--set", "WebhookCollectTime=1")
	case "sam":
		return startSAM(data)
	case "localstack":
		return startLocalStack(data)
	}
	return readEnvironment(*environmentName)
}

// preferMemoryForData puts temporary files into memory where Linux offers enough of it: a DynamoDB server on a disk
// waits for the disk at every write, which tests nothing of the service.
func preferMemoryForData() {
	const memory, needed = "/dev/shm", 4 << 30
	var stat syscall.Statfs_t
	if os.Getenv("TMPDIR") == "" && syscall.Statfs(memory, &stat) == nil &&
		int64(stat.Bavail)*int64(stat.Bsize) > needed {
		os.Setenv("TMPDIR", memory)
	}
}

func isFlagGiven(name string) bool {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name && f.Value.String() != "" })
	return given
}

// checkOperationsCalled prints how much of the interface was checked. A whole run that left an operation out is an
// error.
func checkOperationsCalled(isWhole bool) error {
	summary, neverCalled := contract.summary()
	fmt.Println(summary)
	if isWhole && len(neverCalled) > 0 {
		return fmt.Errorf("operations that no test calls: %s", strings.Join(neverCalled, ", "))
	}
	return nil
}

// checkGrants checks what the policies were used for. Only a whole run that passed can tell which grants nothing needs.
func checkGrants(isWhole bool) error {
	err := grants.checkDenied()
	if err == nil && isWhole && environment.Name == "local" {
		err = grants.checkUnused()
	}
	return err
}

// suiteFolders are the names of the folders of runs, in the folder for temporary files.
const suiteFolders = "sluice-e2e-*"

// lockName is the file in a run's folder that the run keeps locked, and with it the folder.
const lockName = "lock"

// newSuiteFolder makes the folder of this run and has all temporary files created in it. It removes the folders of runs
// that were killed. The folder is removed by remove, and when the run is interrupted.
func newSuiteFolder() (folder string, remove func() error, err error) {
	if err := removeOldFolders(); err != nil {
		return "", nil, err
	}
	var lock *os.File
	for lock == nil { // another run may take the folder for an old one before it is locked
		if folder, err = os.MkdirTemp("", suiteFolders); err != nil {
			return "", nil, err
		}
		if lock, err = lockFolder(folder); err != nil && !errors.Is(err, errLocked) {
			return "", nil, err
		}
	}
	remove = func() error { return errors.Join(os.RemoveAll(folder), lock.Close()) }
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		fmt.Fprintln(os.Stderr, <-interrupted)
		killPrograms()
		// What they have started ends soon after them and may create files until then.
		if !becomesTrue(func() bool { return os.RemoveAll(folder) == nil }) {
			fmt.Fprintln(os.Stderr, "cannot remove", folder)
		}
		os.Exit(1)
	}()
	return folder, remove, os.Setenv("TMPDIR", folder)
}

// errLocked says that another run has locked a folder.
var errLocked = errors.New("the folder belongs to another run")

// lockFolder locks the folder of a run until the file is closed. It returns errLocked if another run has locked it, or
// had and has removed it.
func lockFolder(folder string) (*os.File, error) {
	path := filepath.Join(folder, lockName)
	lock, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(errLocked, lock.Close())
	}
	return lock, nil
}

// removeOldFolders removes the folders of runs that have ended without removing them. One without a lock is just being
// made by another run, or removed.
func removeOldFolders() error {
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), suiteFolders))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, lockName)); err != nil {
			continue
		}
		lock, err := lockFolder(folder)
		if err != nil {
			continue // it is in use, or another user's
		}
		if err := errors.Join(os.RemoveAll(folder), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}
