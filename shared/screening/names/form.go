package names

import "strings"

// Forms returns which of the words of a name belong to organisation forms, as a bit for each: "Siemens AG" has one such
// word, "Open Joint Stock Company Gazprom" four. Text returns the folded text of a word.
func Forms(words []Word, text func(i int) string) uint64 {
	if len(words) > 0 && words[0].IsFormStart() && isWholeForm(len(words), text) {
		return 1<<len(words) - 1
	}
	var forms uint64
	for i := range words {
		if words[i].IsForm() {
			forms |= 1 << i
		}
		if words[i].IsFormStart() {
			forms |= longForm(i, len(words), text)
		}
	}
	return forms
}

// isWholeForm reports whether a name of n words is a form only as the whole name: "Charity Fund".
func isWholeForm(n int, text func(i int) string) bool {
	t := loadTables()
	if n > t.longestForm {
		return false
	}
	words := make([]string, n)
	for i := range words {
		words[i] = text(i)
	}
	return t.wholeForms[strings.Join(words, " ")]
}

// longForm returns the words of the longest form of several words that begins at word i.
func longForm(i, n int, text func(i int) string) uint64 {
	t := loadTables()
	var b strings.Builder
	b.WriteString(text(i))
	var found uint64
	for j := i + 1; j < n && j-i < t.longestForm; j++ {
		b.WriteByte(' ')
		b.WriteString(text(j))
		if t.forms[b.String()] {
			found = 1<<(j+1) - 1<<i
		}
	}
	return found
}
