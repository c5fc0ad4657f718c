package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// scanRecord is what the lines of the scan function in the log say: that a file was unpacked, and how much memory a run
// has used.
type scanRecord struct {
	Message    string `json:"msg"`
	Encoding   string
	Bytes      float64
	Unpacked   float64
	Seconds    float64
	Step       string
	PeakMemory float64
}

// printUnpacking prints how fast files were unpacked and stored, and the most memory of the scan function.
func printUnpacking(w io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var peak float64
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := lines.Bytes()
		var r scanRecord
		for len(text) > 0 && text[0] != '{' { // the name of the function
			text = text[1:]
		}
		if json.Unmarshal(text, &r) != nil {
			continue // not a record
		}
		if r.Message == "upload unpacked" {
			fmt.Fprintf(w, "unpacked %s: %.1f MB to %.1f MB in %.2f s, %.0f MB/s\n", r.Encoding, r.Bytes/1e6,
				r.Unpacked/1e6, r.Seconds, r.Unpacked/1e6/max(r.Seconds, 0.001))
		}
		if r.Step == "scan" {
			peak = max(peak, r.PeakMemory)
		}
	}
	fmt.Fprintf(w, "most memory of the scan function: %.0f MiB\n", peak/(1<<20))
	return lines.Err()
}
