package names

import "testing"

// A word is found by its stem with any ending, after a test of its first letters.
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
