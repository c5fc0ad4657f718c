// Toy is the function with which package lambda is tested. It does what the event asks for.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// event asks for one of the actions of handle, with an argument.
type event struct {
	Do   string
	Text string
	N    int
}

// held is memory that the action "hold" allocates.
var held []byte

// reply describes the process and the request.
type reply struct {
	Text      string
	PID       int
	RequestID string
	// Left is the time until the deadline.
	Left time.Duration
}

// Transient is an error that a state machine can match by its name.
type Transient struct{}

// Error returns the message.
func (Transient) Error() string { return "try again" }

func main() {
	switch os.Getenv("AT_START") {
	case "exit":
		os.Exit(3)
	case "hang":
		<-time.After(time.Hour)
	case "late":
		<-time.After(100 * time.Millisecond)
	}
	lambda.Start(handle)
}

func handle(ctx context.Context, e event) (reply, error) {
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	r := reply{PID: os.Getpid(), RequestID: lc.AwsRequestID, Text: e.Text, Left: time.Until(deadline)}
	switch e.Do {
	case "env":
		r.Text = os.Getenv(e.Text)
	case "print":
		fmt.Fprintln(os.Stderr, e.Text)
	case "fail":
		return r, errors.New(e.Text)
	case "fail by type":
		return r, Transient{}
	case "panic":
		panic(e.Text)
	case "exit":
		os.Exit(e.N)
	case "exit later":
		go func() {
			<-time.After(time.Duration(e.N) * time.Millisecond)
			os.Exit(1)
		}()
	case "hang":
		select {}
	case "meet": // waits until N processes have done this in the folder
		if err := os.WriteFile(filepath.Join(e.Text, strconv.Itoa(r.PID)), nil, 0o600); err != nil {
			return r, err
		}
		for met, err := os.ReadDir(e.Text); len(met) < e.N; met, err = os.ReadDir(e.Text) {
			if err != nil {
				return r, err
			}
			<-time.After(time.Millisecond)
		}
	case "big":
		r.Text = strings.Repeat("x", e.N)
	case "hold": // N megabytes
		held = bytes.Repeat([]byte{1}, e.N<<20)
		<-time.After(time.Minute)
	case "once": // fails until the file exists
		if _, err := os.Stat(e.Text); err != nil {
			return r, errors.Join(errors.New("first time"), os.WriteFile(e.Text, nil, 0o600))
		}
	case "temp":
		return r, os.WriteFile(os.TempDir()+"/left-behind", nil, 0o600)
	}
	return r, nil
}
