package service

import (
	"testing"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/shared/kit/difftest"
)

// A command line that is shown can be pasted into a shell, and shows no secret.
func TestCommandLines(t *testing.T) {
	c := &Connection{Data: "a b", SecretFile: "-", Config: client.Config{ClientSecret: "topsecret", ClientID: "c;d"}}
	const want = "sluice upload --data 'a b' --client-id 'c;d' --client-secret SECRET --client-secret-file '-' " +
		"--resume '-; rm -r x' './-x y'"
	if got := c.CommandLine("upload", "--resume", "-; rm -r x", files.ArgumentName("-x y")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Config.APIURL = "https://set.later" // by the environment
	if got := c.CommandLine("upload", "--resume", "-; rm -r x", files.ArgumentName("-x y")); got != want {
		t.Errorf("later %s\nwant  %s", got, want)
	}
	var none *Connection
	difftest.Equal(t, "without a connection", "sluice status b --follow", none.CommandLine("status", "b", "--follow"))
}
