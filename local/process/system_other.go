//go:build !linux

package process

import (
	"os/exec"
	"syscall"
)

// dieWithParent has no effect: only Linux can end a child with its parent. Elsewhere the children of a local cloud that
// was killed must be ended by hand.
func dieWithParent(*syscall.SysProcAttr) {}

// waitForEnd returns when a started command has ended, with the function that returns its result. Other than on Linux
// the process IDs are free then, and in theory another process has got them a moment later.
func waitForEnd(cmd *exec.Cmd) (fetchResult func() error) {
	err := cmd.Wait()
	return func() error { return err }
}

// skipSyncs has no effect.
func skipSyncs() {}
