//go:build !linux

package process

import "syscall"

// dieWithParent has no effect: only Linux can end a child with its parent. Elsewhere the children of a local cloud that
// was killed must be ended by hand.
func dieWithParent(*syscall.SysProcAttr) {}

// skipSyncs has no effect.
func skipSyncs() {}
