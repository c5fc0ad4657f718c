// Sluice-local runs Sluice on this machine: the template's functions, tables, buckets and state machine, without Docker
// and without an AWS account.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sluice/local/cloud"
)

func main() {
	options, err := parse(os.Args[1:], os.Getenv, os.Stderr)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once, and its children with it
		if err = cloud.Run(ctx, options); err != nil && !errors.As(err, new(*cloud.StartError)) {
			fmt.Fprintln(os.Stderr, "sluice local:", err)
			os.Exit(1)
		}
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case !errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "sluice local:", err)
	}
	os.Exit(2)
}
