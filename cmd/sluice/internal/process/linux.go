//go:build linux

package process

import (
	"syscall"
)

// dieWithParent makes the kernel kill a child when its parent ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
