// Command reference prints the interface description as one HTML page that needs no other file. Its argument is Redoc's
// standalone script, which becomes part of the page.
package main

import (
	"fmt"
	"os"

	"sluice/openapi"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: reference redoc.standalone.js > reference.html")
	}
	script, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	description, err := openapi.Load()
	if err != nil {
		return err
	}
	return description.WriteHTML(os.Stdout, script)
}
