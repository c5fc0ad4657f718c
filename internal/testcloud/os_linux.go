package testcloud

import "syscall"

// dieWithStarter makes the kernel kill a program when the thread that started it ends.
func dieWithStarter(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
