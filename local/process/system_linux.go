package process

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dieWithParent makes the kernel kill a child when its parent ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// waitForEnd returns when a started command has ended, with the function that fetches its result. Until that is called
// the process remains a zombie, so that its ID and that of its group name nothing else.
func waitForEnd(cmd *exec.Cmd) (fetchResult func() error) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return cmd.Wait
		}
	}
}

// skipSyncs makes fsync and fdatasync succeed without any effect in this thread and in everything that it starts from
// now on. It installs a seccomp filter, a few instructions that the kernel runs before each system call. It has no
// effect on a kernel without support for such filters.
func skipSyncs() {
	arch, known := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !known {
		return
	}
	const number, architecture = 0, 4 // offsets in struct seccomp_data
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	ifEqual := func(value uint32, then, otherwise uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: then, Jf: otherwise}
	}
	end := func(verdict uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
	}
	filter := []unix.SockFilter{
		load(architecture),
		ifEqual(arch, 0, 3), // system calls of other architectures have other numbers
		load(number),
		ifEqual(unix.SYS_FSYNC, 2, 0),
		ifEqual(unix.SYS_FDATASYNC, 1, 0),
		end(unix.SECCOMP_RET_ALLOW),
		end(unix.SECCOMP_RET_ERRNO), // with errno 0, which means success
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == nil {
		_ = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
}
