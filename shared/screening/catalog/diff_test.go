package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/watchlist"
)

// with returns an entry with a birth date and an identifier; "" for none.
func with(e watchlist.Entry, birthDate, identifier string) watchlist.Entry {
	if birthDate != "" {
		e.BirthDates = []string{birthDate}
	}
	if identifier != "" {
		e.Identifiers = []watchlist.Identifier{{Type: "Passport", Value: identifier}}
	}
	return e
}

// describe writes changes as "kind before>after", with a "!" for news.
func describe(changes []catalog.Change) string {
	var out []string
	for _, c := range changes {
		text := string(c.Kind) + " "
		if c.Before != nil {
			text += c.Before.ID
		}
		text += ">"
		if c.After != nil {
			text += c.After.ID
		}
		if c.IsNews {
			text += "!"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestDiff(t *testing.T) {
	t.Parallel()
	person := catalogtest.Person
	countries := person("1", "Anatoly Velkanov")
	countries.Countries = []string{"ru"}
	weak := person("1", "Anatoly Velkanov", "Tolya")
	weak.Names[1].Kind = watchlist.Weak
	for _, test := range []struct {
		name          string
		before, after []watchlist.Entry
		want          string
	}{
		{"nothing", nil, nil, ""},
		{"the same in another order", []watchlist.Entry{person("1", "A B"), person("2", "C D")},
			[]watchlist.Entry{person("2", "C D"), person("1", "A B")}, ""},
		{"added and removed", []watchlist.Entry{person("1", "A B")}, []watchlist.Entry{person("2", "C D")},
			"removed 1>, added >2!"},
		{"another name", []watchlist.Entry{person("1", "A B")}, []watchlist.Entry{person("1", "A B", "C D")},
			"changed 1>1!"},
		{"a name less", []watchlist.Entry{person("1", "A B", "C D")}, []watchlist.Entry{person("1", "A B")},
			"changed 1>1!"},
		{"names in another order", []watchlist.Entry{person("1", "A B", "C D")},
			[]watchlist.Entry{person("1", "C D", "A B")}, "amended 1>1"},
		{"a weak alias", []watchlist.Entry{person("1", "Anatoly Velkanov", "Tolya")}, []watchlist.Entry{weak},
			"changed 1>1!"},
		{"a birth date", []watchlist.Entry{person("1", "A B")}, []watchlist.Entry{with(person("1", "A B"), "1961", "")},
			"changed 1>1!"},
		{"an identifier", []watchlist.Entry{person("1", "A B")}, []watchlist.Entry{with(person("1", "A B"), "",
			"AB123")}, "changed 1>1!"},
		{"an identifier written otherwise", []watchlist.Entry{with(person("1", "A B"), "", "ab-123")},
			[]watchlist.Entry{with(person("1", "A B"), "", "AB 123")}, "amended 1>1"},
		{"a country", []watchlist.Entry{person("1", "Anatoly Velkanov")}, []watchlist.Entry{countries}, "amended 1>1"},
		{"another ID", []watchlist.Entry{person("1", "A B", "C D")}, []watchlist.Entry{person("2", "A B", "C D")},
			"moved 1>2"},
		{"another ID and more names", []watchlist.Entry{person("1", "A B")},
			[]watchlist.Entry{person("2", "A B", "C D")}, "moved 1>2!"},
		{"another ID, born otherwise", []watchlist.Entry{with(person("1", "A B"), "1961", "")},
			[]watchlist.Entry{with(person("2", "A B"), "1971", "")}, "removed 1>, added >2!"},
		{"another ID, fewer names", []watchlist.Entry{person("1", "A B", "C D")}, []watchlist.Entry{person("2", "A B")},
			"removed 1>, added >2!"},
		{"another ID, the same number", []watchlist.Entry{with(person("1", "A B", "C D"), "", "AB123")},
			[]watchlist.Entry{with(person("2", "A B"), "", "AB123")}, "moved 1>2!"},
		{"a short number tells nothing", []watchlist.Entry{with(person("1", "A B", "C D"), "", "AB12")},
			[]watchlist.Entry{with(person("2", "A B"), "", "AB12")}, "removed 1>, added >2!"},
		{"two may be meant", []watchlist.Entry{person("1", "A B")}, []watchlist.Entry{person("2", "A B"),
			person("3", "A B")},
			"removed 1>, added >2!, added >3!"},
		{"merged into one that stays", []watchlist.Entry{person("1", "A B"), person("2", "C D")},
			[]watchlist.Entry{person("2", "C D", "A B")}, "merged 1>2, changed 2>2"},
		{"merged into one that says more", []watchlist.Entry{person("1", "A B"), person("2", "C D")},
			[]watchlist.Entry{person("2", "C D", "A B", "E F")}, "merged 1>2!, changed 2>2!"},
		{"merged into a new one", []watchlist.Entry{person("1", "A B"), person("2", "C D")},
			[]watchlist.Entry{person("3", "A B", "C D")}, "merged 1>3, merged 2>3"},
		{"merged into one that is as it was", []watchlist.Entry{person("1", "A B"), person("2", "C D", "A B")},
			[]watchlist.Entry{person("2", "C D", "A B")}, "merged 1>2"},
		{"the same ID twice", []watchlist.Entry{person("1", "A B"), person("1", "C D")},
			[]watchlist.Entry{person("1", "A B"), person("1", "C E")}, "changed 1>1!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for range 3 { // the order of maps plays no part
				difftest.Equal(t, "describe", test.want, describe(catalog.Diff(test.before, test.after)))
			}
		})
	}
}

// A name that many entries share identifies none of them.
func TestDiffOfFrequentNames(t *testing.T) {
	t.Parallel()
	var before, after []watchlist.Entry
	for i := range 3000 {
		before = append(before, catalogtest.Person(fmt.Sprint("old", i), "A B"))
		after = append(after, catalogtest.Person(fmt.Sprint("new", i), "A B"))
	}
	if got := catalog.CountChanges(catalog.Diff(before, after)); got != (catalog.Changes{Added: 3000, Removed: 3000}) {
		t.Errorf("got %+v", got)
	}
}
