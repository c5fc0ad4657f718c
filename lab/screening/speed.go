package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// shuffle puts names into an order that is always the same.
func shuffle(names []string) {
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
}

// printLoaded writes the index to a file and has a new process open it and look names up, as functions do. It prints
// how long opening took, how much memory the process has had, and how many names a second it looked up.
func printLoaded(d *data, x *match.Index, what string, rounds int) error {
	path := filepath.Join(d.temp, "index")
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	size, err := x.WriteTo(file)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.Command(program, "-loaded", path, "-rounds", strconv.Itoa(rounds))
	command.Stdin, command.Stderr = strings.NewReader(strings.Join(d.negatives, "\n")), os.Stderr
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("opening the index in a new process: %w", err)
	}
	fmt.Printf("\nThe index of %s has %.1f MB. A new process opens it, checksum and all, %s", what, float64(size)/1e6,
		output)
	return nil
}

// runLoaded opens an index, says how long that took from the beginning of the process, and how many names of standard
// input one core looks up a second. The names are distinct, and each round begins with empty caches.
func runLoaded(path string, rounds int) error {
	x, err := match.Open(path)
	if err != nil {
		return err
	}
	fmt.Printf("in %.0f ms", cpuTime().Seconds()*1000)
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	names := strings.Split(string(text), "\n")
	best := time.Duration(1 << 62)
	for round := range rounds {
		searcher := match.NewSearcher(x)
		start := cpuTime()
		for _, name := range names {
			searcher.Find(match.Query{Name: name}, match.Threshold)
		}
		best = min(best, cpuTime()-start)
		if round == 0 {
			fmt.Printf(" and has had at most %s resident after %d names.\n", peakMemory(), len(names))
		}
	}
	fmt.Printf("It looks up %.0f distinct names a second, caches cold.\n", float64(len(names))/best.Seconds())
	return x.Close()
}

// peakMemory returns the greatest resident size of this process. Rusage would have that of the parent, too.
func peakMemory() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "what this system does not say"
	}
	for line := range strings.Lines(string(status)) {
		var size float64
		if _, err := fmt.Sscanf(line, "VmHWM: %g kB", &size); err == nil {
			return fmt.Sprintf("%.0f MB", size*1024/1e6)
		}
	}
	return "what this system does not say"
}

// padding returns a list that makes the lists of d have n entries: names of persons whose words are those of the lists,
// newly combined and a little changed.
func padding(d *data, n int) match.Source {
	random := rand.New(rand.NewPCG(2, 2))
	var words []string
	list := &watchlist.List{}
	for _, source := range d.sources {
		n -= len(source.List.Entries)
		for _, e := range source.List.Entries {
			for _, name := range e.Names {
				if e.Schema == watchlist.Person {
					words = append(words, strings.Fields(name.Text)...)
				}
			}
		}
	}
	for i := range n {
		name := make([]string, 2+random.IntN(3))
		for j := range name {
			word := []rune(words[random.IntN(len(words))])
			if at := random.IntN(len(word)); random.IntN(2) == 0 {
				word[at] = rune('a' + random.IntN(26))
			}
			name[j] = string(word)
		}
		list.Entries = append(list.Entries, watchlist.Entry{
			ID: fmt.Sprint(i), Schema: watchlist.Person, Names: []watchlist.Name{{Text: strings.Join(name, " ")}},
		})
	}
	return match.Source{Name: "padding", List: list}
}
