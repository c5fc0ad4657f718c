// Command generate writes the types of package wire by oapi-codegen, and its list of operations. It runs in the root of
// the repository. The first run needs a network, since the generator is not part of the product's module.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"

	"sluice/openapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	description, err := openapi.Load()
	if err != nil {
		return err
	}
	schemas, err := description.Types()
	if err != nil {
		return err
	}
	generator := exec.Command("go", "tool", "-modfile=tools/go.mod", "oapi-codegen", "-config",
		"openapi/wire/oapi-codegen.yaml", "/dev/stdin")
	generator.Env = append(os.Environ(), "GOWORK=off")
	generator.Stdin, generator.Stderr = bytes.NewReader(schemas), os.Stderr
	types, err := generator.Output()
	if err != nil {
		return fmt.Errorf("oapi-codegen: %w", err)
	}
	if err := os.WriteFile("openapi/wire/operations.txt", description.OperationList(), 0o644); err != nil {
		return err
	}
	return os.WriteFile("openapi/wire/"+openapi.TypesFile, openapi.SignTypes(types, schemas), 0o644)
}
