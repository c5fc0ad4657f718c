//go:build !linux

package dynamotest

import "os/exec"

// launch starts a process. Elsewhere than on Linux it outlives a test binary that is killed.
func launch(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		cmd.Wait()
		close(done)
	}()
	return done, nil
}
