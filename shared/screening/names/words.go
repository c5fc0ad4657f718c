package names

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed data/forms.txt
var formsData string

//go:embed data/words.txt
var wordsData string

//go:embed data/nicknames.txt
var nicknamesData string

//go:embed data/slavic.txt
var slavicData string

//go:embed data/people.txt
var peopleData string

// class is what a word is by itself, from the tables of this package. A word can be of several classes: "de" is a
// particle in the name of a person and a stop word in that of an organisation.
type class uint16

const (
	// classTitle words say what a person is: "Dr", "Sheikh".
	classTitle class = 1 << iota
	// classParticle words join the parts of a person's name: "bin", "de", "al".
	classParticle
	// classStop words join the parts of an organisation's name: "of", "the".
	classStop
	// classCommon words are names that very many people bear.
	classCommon
	// classGeneric words say only that something is an organisation: "company", "group".
	classGeneric
	// classTrade words say what an organisation does: "bank", "shipping".
	classTrade
	// classForm words are organisation forms by themselves: "GmbH", "LLC".
	classForm
	// classDescent words join a name with that of a parent: "bin".
	classDescent
	// classNumber words are numbers.
	classNumber
	// classFormStart words begin an organisation form of several words: "Open Joint Stock Company".
	classFormStart
)

// meaning is what the tables know about one word.
type meaning struct {
	class class
	// concepts are numbers of what the word means, in any language: "bank" and "банк" share one. 0 is none.
	concepts [maxConcepts]uint16
}

// maxConcepts is the number of concepts that one word can have.
const maxConcepts = 3

// tables are the tables of this package, with all words folded.
type tables struct {
	words map[string]meaning
	// forms are the organisation forms of several words: the words joined by spaces.
	forms map[string]bool
	// longestForm is the number of words of the longest of them.
	longestForm int
}

var loadTables = sync.OnceValue(func() *tables {
	t := &tables{words: map[string]meaning{}, forms: map[string]bool{}}
	t.addPeople()
	concept := uint16(0)
	group := ""
	eachLine(wordsData, func(key string, aliases []string) {
		if key != group {
			group = key
			concept++
		}
		c := classTrade
		if strings.HasPrefix(key, "generic ") {
			c = classGeneric
		}
		t.addConcept(concept, c, aliases)
	})
	for _, data := range []string{nicknamesData, slavicData} {
		eachLine(data, func(_ string, aliases []string) {
			concept++
			t.addConcept(concept, 0, aliases)
		})
	}
	t.addForms()
	return t
})

// addPeople adds the classes of words in names of persons.
func (t *tables) addPeople() {
	classes := map[string]class{
		"title": classTitle, "particle": classParticle, "stop": classStop, "common": classCommon,
		"descent": classDescent,
	}
	eachLine(peopleData, func(key string, words []string) {
		for _, word := range words {
			if folded := foldWords(word); len(folded) == 1 {
				t.add(folded[0], classes[key], 0)
			}
		}
	})
}

// addConcept adds words that mean the same. What folds to several words is left out, and so is what folds to fewer than
// two letters.
func (t *tables) addConcept(concept uint16, c class, aliases []string) {
	for _, alias := range aliases {
		if folded := foldWords(alias); len(folded) == 1 && len(folded[0]) > 1 {
			t.add(folded[0], c, concept)
		}
	}
}

func (t *tables) addForms() {
	eachLine(formsData, func(_ string, aliases []string) {
		for _, alias := range aliases {
			folded := foldWords(alias)
			switch {
			case len(folded) == 0:
			case len(folded) == 1:
				if len(folded[0]) > 1 && !t.isTelling(folded[0]) && !isRoman(folded[0]) {
					t.add(folded[0], classForm, 0)
				}
			default:
				t.add(folded[0], classFormStart, 0)
				t.forms[strings.Join(folded, " ")] = true
				t.longestForm = max(t.longestForm, len(folded))
			}
		}
	})
}

// isTelling reports whether a word says something about an organisation beside its form: "bank" is listed as a form, but
// a name without it is another one.
func (t *tables) isTelling(word string) bool { return t.words[word].class&classTrade != 0 }

func (t *tables) add(word string, c class, concept uint16) {
	m := t.words[word]
	m.class |= c
	if concept != 0 {
		for i := range m.concepts {
			if m.concepts[i] == concept {
				break
			}
			if m.concepts[i] == 0 {
				m.concepts[i] = concept
				break
			}
		}
	}
	t.words[word] = m
}

// eachLine calls f for each line "key: word|word" that is not a comment.
func eachLine(data string, f func(key string, words []string)) {
	for line := range strings.Lines(data) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, words, _ := strings.Cut(line, ": ")
		f(key, strings.Split(words, "|"))
	}
}
