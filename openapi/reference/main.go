// Command reference prints the interface description: with a script, Redoc's standalone one, as an HTML page that needs
// no other file; without, as the JSON of openapi/sluice.bundled.json.
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
	if len(args) > 1 {
		return fmt.Errorf("usage: reference [redoc.standalone.js]")
	}
	description, err := openapi.Load()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		bundle, err := description.Bundle()
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(bundle)
		return err
	}
	script, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	return description.WriteHTML(os.Stdout, script)
}
