//go:build !linux

package process

import "syscall"

// Only Linux can bind a child's life to its parent's; elsewhere a child of a killed local cloud must be ended by hand.
func dieWithParent(*syscall.SysProcAttr) {}

func skipSyncs() {}
