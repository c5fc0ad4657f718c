package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

//go:embed peers.py
var peersProgram string

// maxPeerQueries is the number of names that the peers look up: they compare each with all names of the lists.
const maxPeerQueries = 300

// printPeers measures rapidfuzz and nomenklatura on the same data, if Python has them.
func printPeers(d *data, python string) error {
	fmt.Println("\nPeers")
	input := struct {
		List    []string `json:"list"`
		Queries []string `json:"queries"`
		Pairs   [][]any  `json:"pairs"`
	}{Queries: d.negatives[:min(maxPeerQueries, len(d.negatives))]}
	for _, source := range d.sources {
		for _, e := range source.List.Entries {
			for _, n := range e.Names {
				input.List = append(input.List, n.Text)
			}
		}
	}
	for _, p := range d.pairs {
		input.Pairs = append(input.Pairs, []any{p.schema, p.name1, p.name2, p.isMatch})
	}
	file, err := os.CreateTemp(d.temp, "peers-")
	if err != nil {
		return err
	}
	defer file.Close()
	if err := json.NewEncoder(file).Encode(input); err != nil {
		return err
	}
	command := exec.Command(python, "-c", peersProgram, file.Name())
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		fmt.Printf("  %s could not run them: %v\n", python, err)
	}
	return nil
}
