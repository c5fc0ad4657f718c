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
	difftest.Equal(t, "CommandLine", want,
		c.CommandLine("upload", "--resume", "-; rm -r x", files.ArgumentName("-x y")))
	c.Config.APIURL = "https://set.later" // by the environment
	difftest.Equal(t, "later", want, c.CommandLine("upload", "--resume", "-; rm -r x", files.ArgumentName("-x y")))
	var none *Connection
	difftest.Equal(t, "without a connection", "sluice status b --follow", none.CommandLine("status", "b", "--follow"))
}
