//go:build !linux

package testcloud

import "syscall"

// dieWithStarter does nothing: other systems have no such signal.
func dieWithStarter(*syscall.SysProcAttr) {}
