//go:build unix && !linux

package process

import "syscall"

// dieWithParent does nothing: only Linux has a signal for it.
func dieWithParent(*syscall.SysProcAttr) {}
