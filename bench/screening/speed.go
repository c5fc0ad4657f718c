package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// shuffle puts names into an order that is always the same.
func shuffle(names []string) {
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
}

// printSpeed measures how many names a second one core looks up. The names are distinct, and each round begins with
// empty caches.
func printSpeed(d *data, x *match.Index, what string, rounds int) {
	best := time.Duration(1 << 62)
	for range rounds {
		searcher := match.NewSearcher(x)
		start := cpuTime()
		for _, name := range d.negatives {
			searcher.Find(match.Query{Name: name}, match.Threshold)
		}
		best = min(best, cpuTime()-start)
	}
	fmt.Printf("\nSpeed against %s: %.0f distinct names a second, caches cold\n", what, float64(len(d.negatives))/best.Seconds())
}

// printLoading writes the index to a file and measures opening it.
func printLoading(x *match.Index, what string) error {
	folder, err := os.MkdirTemp("", "bench-screening-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "index")
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
	start := cpuTime()
	opened, err := match.Open(path)
	if err != nil {
		return err
	}
	fmt.Printf("\nThe index of %s has %.1f MB and is opened, checksum and all, in %.0f ms.\n", what, float64(size)/1e6,
		(cpuTime()-start).Seconds()*1000)
	return opened.Close()
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
