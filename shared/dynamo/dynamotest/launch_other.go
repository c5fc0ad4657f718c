//go:build !linux

package dynamotest

import "os/exec"

// launch starts a process. Elsewhere than on Linux it outlives a test binary that is killed.
func launch(cmd *exec.Cmd, exited chan<- error) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { exited <- cmd.Wait() }()
	return nil
}
