package watchlist

import (
	"regexp"
	"strings"
	"unicode"
)

// noteLabels are the labels of lists before a name in parentheses, and notes that are not names.
var noteLabels = regexp.MustCompile(`(?i)^(?:(?:in )?original script|(?:previously|formerly|also) (?:listed|known) ` +
	`as|listed as|a\.?k\.?a\.?|f\.?k\.?a\.?)\s*:?\s*`)

// nameTexts returns the names that one field of a list holds: lists separate several by semicolons, and write the same
// name in another script, or further ones, in parentheses after it. Other text in parentheses stays in its place.
func nameTexts(text string) []string {
	var texts []string
	add := func(part string) {
		texts = addUnique(texts, strings.Trim(part, " ,;:"))
	}
	outside, inside := cutParentheses(text)
	if inside != "" && (strings.Contains(inside, ";") || noteLabels.MatchString(inside) ||
		isLatin(inside) != isLatin(outside)) {
		text = outside
		inside = noteLabels.ReplaceAllString(inside, "")
	} else {
		inside = ""
	}
	for _, list := range []string{text, inside} {
		for part := range strings.SplitSeq(list, ";") {
			if bare, note := cutParentheses(part); list == inside && noteLabels.ReplaceAllString(note, "") == "" {
				part = bare // "(original script)" behind a name
			}
			add(part)
		}
	}
	return texts
}

// cutParentheses cuts the last part of a text that is in parentheses, which may be nested, from the rest.
func cutParentheses(text string) (outside, inside string) {
	text = strings.TrimRight(text, " ,;")
	start, depth := strings.IndexByte(text, '('), 0
	if start < 1 || !strings.HasSuffix(text, ")") {
		return text, ""
	}
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && i < len(text)-1 {
				return text, "" // something follows
			}
		}
	}
	return strings.TrimSpace(text[:start]), strings.TrimSpace(text[start+1 : len(text)-1])
}

// isLatin reports whether the first letter of a text is one of the Latin script.
func isLatin(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) {
			return unicode.Is(unicode.Latin, r)
		}
	}
	return true
}

// withoutAcronym returns the name of an organisation without its own acronym in parentheses after it, and the acronym:
// "GLOBAL RELIEF FOUNDATION (GRF)". Both are empty if the name has no acronym.
func withoutAcronym(text string) (name, acronym string) {
	outside, inside := cutParentheses(text)
	letters := strings.ToUpper(strings.NewReplacer("-", "", ".", "", "/", "", " ", "").Replace(inside))
	if len(letters) < 2 {
		return "", ""
	}
	// The letters are the first ones of words, in their order; words may be left out.
	words := strings.FieldsFunc(strings.ToUpper(outside),
		func(r rune) bool { return r == ' ' || r == '-' || r == '/' || r == '’' || r == '\'' })
	found, i := 0, 0
	for _, word := range words {
		if i < len(letters) && word[0] == letters[i] {
			found, i = found+1, i+1
		}
	}
	if found == len(letters) {
		return outside, inside
	}
	return "", ""
}
