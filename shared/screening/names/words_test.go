package names

import "testing"

// A word is found by its stem whatever it ends in: its first letters alone say that it may have one.
func TestStemsAreFound(t *testing.T) {
	tables := loadTables()
	for stem, known := range tables.stems {
		if len(stem) < minStem {
			continue
		}
		isFound := false
		for ending := range stemEndings {
			m := tables.meaningOf([]byte(stem + ending))
			if len(ending) <= maxEnding && m.class&known.class == known.class && m.concepts[0] != 0 {
				isFound = true
			}
		}
		if !isFound {
			t.Errorf("no word has the stem %s", stem)
		}
	}
	if len(tables.stems) == 0 {
		t.Error("the tables have no stems")
	}
}
