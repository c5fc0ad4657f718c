// Command sluice is Sluice's command line: uploads and their results, the local cloud, its administration, and test data.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program whatever it does
	return dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr)
}
