package names

import (
	"maps"
	"testing"
)

// The digest changes with the meaning of any word, with organisation forms and with the reading of letters, and with
// nothing else.
func TestDigest(t *testing.T) {
	whole := loadTables()
	want := whole.digest()
	if got := whole.digest(); got != want {
		t.Errorf("the digest of the same tables is %x, then %x", want, got)
	}
	changes := map[string]func(t *tables){
		"class":   func(t *tables) { m := t.words["bank"]; m.class ^= classGeneric; t.words["bank"] = m },
		"concept": func(t *tables) { m := t.words["bank"]; m.concepts[0]++; t.words["bank"] = m },
		"word":    func(t *tables) { t.words["sluicegate"] = meaning{} },
		"form":    func(t *tables) { t.forms["open sluice company"] = true },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			changed := tables{words: maps.Clone(whole.words), forms: maps.Clone(whole.forms)}
			change(&changed)
			if changed.digest() == want {
				t.Error("the digest of the changed tables is the same")
			}
		})
	}
	f := *loadFoldings()
	before := f.digest()
	page := *f.pages['я'>>8]
	f.pages['я'>>8] = &page
	page['я'&0xff]++
	if f.digest() == before {
		t.Error("the digest does not change with the reading of a letter")
	}
}
