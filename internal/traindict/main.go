// Traindict trains a dictionary for stored lines on lines of the generator, and on nothing else. The same generator
// gives the same bytes. A dictionary in use is never trained again: a new one gets the next ID.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"time"

	"sluice/sampledata"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/transaction/storedline"
)

func main() {
	path := flag.String("o", "", "`FILE` to write")
	id := flag.Uint("id", 0, "`ID` of the dictionary, 1 to 255")
	lines := flag.Int64("lines", 24_000, "`N` lines to train on")
	size := flag.Int("size", 32<<10, "size of the content in `BYTES`")
	flag.Parse()
	if err := run(*path, uint32(*id), *lines, *size); err != nil {
		fmt.Fprintln(os.Stderr, "traindict:", err)
		os.Exit(1)
	}
}

func run(path string, id uint32, lines int64, size int) error {
	if path == "" || id == 0 || id > 255 {
		return fmt.Errorf("-o FILE and -id 1 to 255 are needed")
	}
	samples, err := generateSamples(lines)
	if err != nil {
		return err
	}
	dictionary, err := train(id, samples, size)
	if err != nil {
		return err
	}
	return os.WriteFile(path, dictionary, 0o644)
}

// firstYear and years are the years in which modifications of the samples are created.
const (
	firstYear = 2018
	years     = 10
)

// generateSamples returns packed lines, as many of each year.
func generateSamples(lines int64) ([][]byte, error) {
	var samples [][]byte
	for year := range years {
		g, err := sampledata.New(sampledata.Options{
			Lines: lines / years, Seed: uint64(1000 + year),
			From: time.Date(firstYear+year, 1, 1, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			return nil, err
		}
		s := scanner.New(transaction.Rules{})
		for line, _, ok := g.Next(); ok; line, _, ok = g.Next() {
			identity := s.Identify(line)
			samples = append(samples, bytes.Clone(storedline.Pack(storedline.Line{
				TransactionID:  string(identity.TransactionExternalID),
				ModificationID: string(identity.ModificationID),
				Text:           line,
			})))
		}
	}
	return interleave(samples, years), nil
}

// interleave mixes samples that are in so many groups, one after the other, so that any stretch has some of each.
func interleave(samples [][]byte, groups int) [][]byte {
	mixed := make([][]byte, 0, len(samples))
	perGroup := len(samples) / groups
	for i := range perGroup {
		for group := range groups {
			mixed = append(mixed, samples[group*perGroup+i])
		}
	}
	return mixed
}
