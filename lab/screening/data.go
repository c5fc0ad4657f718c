package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// data is what the bench measures with.
type data struct {
	temp      string
	sources   []match.Source
	positives []positive
	negatives []string
	pairs     []pair
}

// positive is a name as it is asked for, and the entries that it means.
type positive struct {
	name string
	ids  []string
}

// pair is two names and whether they are names of the same.
type pair struct {
	schema, name1, name2 string
	isMatch              bool
}

func (d *data) remove() { os.RemoveAll(d.temp) }

// readData reads all data, unpacking what is packed into a folder that remove removes.
func readData(folder string) (*data, error) {
	temp, err := os.MkdirTemp("", "sluice-screening-")
	if err != nil {
		return nil, err
	}
	d := &data{temp: temp}
	if err := d.read(folder); err != nil {
		d.remove()
		return nil, err
	}
	return d, nil
}

func (d *data) read(folder string) error {
	var paths []string
	for _, pattern := range []string{"lists/un-*.xml*", "lists/ofac-*.csv*", "queries/un-positives.csv*",
		"queries/negatives-*.csv*", "pairs/name-pairs.csv*"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("%s has no %s", folder, pattern)
		}
		for _, path := range found {
			if path, err = d.unpack(path); err != nil {
				return err
			}
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		name := filepath.Base(path)
		var err error
		switch {
		case strings.HasPrefix(name, "un-positives"):
			err = eachRow(path, d.addPositive)
		case strings.HasPrefix(name, "un-"):
			err = d.addList("un", watchlist.UNXML, path)
		case strings.HasPrefix(name, "ofac-") && strings.HasSuffix(name, "-sdn.csv"):
			err = d.addList("ofac", watchlist.OFACSDNCSV, path)
		case strings.HasPrefix(name, "negatives-"):
			err = eachRow(path, func(row map[string]string) { d.negatives = append(d.negatives, row["full_name"]) })
		case strings.HasPrefix(name, "name-pairs"):
			err = eachRow(path, d.addPair)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	slices.Sort(d.negatives)
	d.negatives = slices.Compact(d.negatives)
	shuffle(d.negatives)
	return nil
}

// unpack copies a file into the temporary folder, unpacked if its name ends in .xz, and returns where it is.
func (d *data) unpack(path string) (string, error) {
	to := filepath.Join(d.temp, strings.TrimSuffix(filepath.Base(path), ".xz"))
	out, err := os.Create(to)
	if err != nil {
		return "", err
	}
	defer out.Close()
	if !strings.HasSuffix(path, ".xz") {
		in, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer in.Close()
		_, err = io.Copy(out, in)
		return to, err
	}
	command := exec.Command("xz", "-dc", path)
	command.Stdout = out
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("unpacking %s by xz: %w", path, err)
	}
	return to, nil
}

func (d *data) addList(name string, format watchlist.Format, path string) error {
	list, err := watchlist.Read(format, watchlist.FileSource(path))
	if err != nil {
		return err
	}
	for _, problem := range list.Problems {
		fmt.Printf("%s: %s\n", name, problem)
	}
	d.sources = append(d.sources, match.Source{Name: name, Format: format, List: list})
	return nil
}

func (d *data) addPositive(row map[string]string) {
	ids := strings.FieldsFunc(row["un_dataids"], func(r rune) bool { return r < '0' || r > '9' })
	d.positives = append(d.positives, positive{row["name_as_listed"], ids}, positive{row["name_as_asked"], ids})
}

func (d *data) addPair(row map[string]string) {
	d.pairs = append(d.pairs, pair{row["schema"], row["name1"], row["name2"], row["is_match"] == "true"})
}

// eachRow calls f for each row of a CSV file with a header.
func eachRow(path string, f func(row map[string]string)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader := csv.NewReader(file)
	header, err := reader.Read()
	if err != nil {
		return err
	}
	for {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row := map[string]string{}
		for i, name := range header {
			row[name] = cells[i]
		}
		f(row)
	}
}
