package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

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
