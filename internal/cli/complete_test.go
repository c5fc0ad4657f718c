package cli

import (
	"bytes"
	"flag"
	"strings"
	"testing"
)

func TestPrintCompletions(t *testing.T) {
	for line, want := range map[string]string{
		"":                       "admin copy fail help misuse pass reject stop values",
		"c":                      "copy",
		"x":                      "",
		"help co":                "copy",
		"copy --":                "--count --help",
		"copy -n --c":            "--count",
		"copy --count ":          "",
		"copy --count 3 --c":     "--count",
		"copy --count = 3 --c":   "--count",
		"copy ":                  "",
		"admin ":                 "help other user",
		"admin user ":            "add list",
		"admin user l":           "list",
		"admin --host h user a":  "add",
		"admin --host user ":     "help other user",
		"admin user add --":      "--dry --help --host",
		"admin user add Ada --d": "--dry",
		"admin fly ":             "",
		"admin user fly ":        "",
		"pass --x":               ":file",
		"read ":                  "",
		"reject ":                "",
	} {
		t.Run(line, func(t *testing.T) {
			var out bytes.Buffer
			program().PrintCompletions(&out, strings.Split(line, " "))
			if got := strings.Join(strings.Fields(out.String()), " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	p := program()
	p.Commands[0].Args = "NAME FILE..."
	addFlags := p.Commands[0].Flags
	p.Commands[0].Flags = func(f *flag.FlagSet) {
		addFlags(f)
		f.String("to", "", "the `FILE` to be written")
	}
	for line, isFile := range map[string]bool{"copy ": false, "copy a ": true, "copy a b -": true,
		"copy a b --c": false, "copy --to ": true, "copy --to = x": true, "copy --to=": true, "copy -to=x": true,
		"copy --count=": false, "copy --other=x": false} {
		if _, got := p.complete(strings.Split(line, " ")); got != isFile {
			t.Errorf("%q: a file is expected: %v, want %v", line, got, isFile)
		}
	}
}

func TestCompletionScript(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := program().CompletionScript(shell)
		if err != nil || !strings.Contains(script, CompleteCommand) ||
			strings.Contains(script, "PROGRAM") {
			t.Errorf("%s: %v, script\n%s", shell, err, script)
		}
	}
	if _, err := program().CompletionScript("../complete.go"); err == nil {
		t.Error("an unknown shell has a script")
	}
}
