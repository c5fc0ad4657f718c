// Traindict trains a dictionary for stored lines on lines of the generator, and on nothing else. The same generator
// gives the same bytes. A dictionary in use is never trained again: a new one gets the next ID.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

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

// train returns a zstd dictionary for texts like the samples, with a content of at most the given size.
//
// The content is made of whole samples. Beside a sample of its own structure a text costs little: what follows a
// different value matches at the same distance as what preceded it, which zstd writes in a few bits.
func train(id uint32, samples [][]byte, size int) ([]byte, error) {
	content := chooseSamples(samples, size)
	return zstd.BuildDict(zstd.BuildDictOptions{
		ID:       id,
		Contents: append(samples[:min(len(samples), tableSamples):min(len(samples), tableSamples)], everyByte()),
		History:  content,
		Offsets:  [3]int{1, 4, 8},
		Level:    zstd.SpeedFastest,
	})
}

// everyByte returns a text of every byte once. With it, the Huffman table of a dictionary has a code for each.
func everyByte() []byte {
	text := make([]byte, 256)
	for i := range text {
		text[i] = byte(i)
	}
	return text
}

const (
	// tableSamples is how many samples the tables of the dictionary are made of, and candidates of how many its content
	// is chosen.
	tableSamples = 4000
	candidates   = 3000
	// stringBytes is the length of the strings whose frequencies decide, and countBits the size of the table of counts.
	stringBytes = 6
	countBits   = 22
)

// counts has in how many samples each string occurs, by its hash. Strings that collide are counted together.
type counts []uint32

// hash returns the hash of the string at the beginning of b, which has 8 bytes or more.
func hash(b []byte) uint32 {
	const prime = 227718039650203
	return uint32((binary.LittleEndian.Uint64(b) << (64 - 8*stringBytes)) * prime >> (64 - countBits))
}

// chooseSamples returns samples that have as many frequent strings as possible, each once. It chooses one after the
// other, always the one that adds most for its length. The best one is last, where distances to it are shortest.
func chooseSamples(samples [][]byte, size int) []byte {
	frequency := countStrings(samples)
	remaining := slices.Clone(samples[:min(len(samples), candidates)])
	var chosen [][]byte
	for total := 0; ; {
		best, bestGain := -1, 0.0
		for i, s := range remaining {
			if len(s) < 8 || total+len(s) > size {
				continue
			}
			if gain := float64(frequency.gain(s)) / float64(len(s)); gain > bestGain {
				best, bestGain = i, gain
			}
		}
		if best < 0 {
			break
		}
		s := remaining[best]
		frequency.remove(s)
		chosen = append(chosen, s)
		total += len(s)
		remaining = slices.Delete(remaining, best, best+1)
	}
	slices.Reverse(chosen)
	return slices.Concat(chosen...)
}

// countStrings counts in how many samples each string occurs.
func countStrings(samples [][]byte) counts {
	c, last := make(counts, 1<<countBits), make([]int32, 1<<countBits)
	for i, s := range samples {
		for at := 0; at+8 <= len(s); at++ {
			if h := hash(s[at:]); last[h] != int32(i)+1 {
				last[h] = int32(i) + 1
				c[h]++
			}
		}
	}
	return c
}

// gain returns how often the strings of a sample occur in all samples. A string that occurs in one sample counts
// nothing.
func (c counts) gain(s []byte) (total uint64) {
	for at := 0; at+8 <= len(s); at++ {
		if n := c[hash(s[at:])]; n > 1 {
			total += uint64(n)
		}
	}
	return total
}

// remove makes the strings of a sample count nothing.
func (c counts) remove(s []byte) {
	for at := 0; at+8 <= len(s); at++ {
		c[hash(s[at:])] = 0
	}
}
