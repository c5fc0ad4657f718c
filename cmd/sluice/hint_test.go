package main

import (
	"testing"

	"sluice/client"
)

// A command line that is shown can be pasted into a shell, and shows no secret.
func TestCommandLines(t *testing.T) {
	c := &connection{data: "a b", secretFile: "-", config: client.Config{ClientSecret: "topsecret", ClientID: "c;d"}}
	const want = "sluice upload --data 'a b' --client-id 'c;d' --client-secret SECRET --client-secret-file '-' " +
		"--resume '-; rm -r x' './-x y'"
	if got := c.commandLine("upload", "--resume", "-; rm -r x", argumentName("-x y")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.config.APIURL = "https://set.later" // by the environment
	if got := c.commandLine("upload", "--resume", "-; rm -r x", argumentName("-x y")); got != want {
		t.Errorf("later %s\nwant  %s", got, want)
	}
	var none *connection
	if got := none.commandLine("status", "b", "--follow"); got != "sluice status b --follow" {
		t.Errorf("without a connection: %s", got)
	}
	a := &admin{data: "d", prefix: "p", tenant: "t"}
	a.given = a.givenFlags()
	if got := a.commandLine("key rotate"); got != "sluice admin key rotate --data d --prefix p --tenant t" {
		t.Errorf("for operators: %s", got)
	}
}
