// Package spelling finds the name that a user meant who has misspelt it.
package spelling

import "strings"

// Closest returns the candidate that a user who typed word most probably meant, or "" if none is near.
func Closest(word string, candidates []string) string {
	best, bestDistance := "", min(len(word)/3+1, len(word)-2)
	for _, candidate := range candidates {
		d := distance(strings.ToLower(word), candidate)
		if len(word) >= 3 && strings.HasPrefix(candidate, word) {
			d = 1
		}
		if d <= bestDistance && d < len(candidate) && (best == "" || d < bestDistance) {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance is the least number of insertions, deletions, replacements of a byte and swaps of neighbours that turn a
// into b (optimal string alignment).
func distance(a, b string) int {
	var beforeLast []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last = last, row
	}
	return last[len(b)]
}
