package names

import (
	"slices"
	"testing"
)

// Joins have the same keys if they are made from the words or from their parts.
func TestKeysOfPartsAreThoseOfTheirJoin(t *testing.T) {
	letters := []rune("aeiouwyjhlrstkbcz")
	seed := uint64(1)
	random := func(n int) int {
		seed = mix(seed)
		return int(seed>>33) % n
	}
	texts := []string{"7", "iv", "~mhmd", "毛", "'", "al", "abd", "h", "eh", "el"}
	for range 600 {
		text := make([]rune, 1+random(14))
		for i := range text {
			text[i] = letters[random(len(letters))]
		}
		texts = append(texts, string(text))
	}
	var words []Word
	for _, text := range texts {
		words = append(words, NewWord([]byte(text)))
	}
	ofParts := 0
	for i := range words {
		for j := range words {
			join, a, b := Join(&words[i], &words[j]), words[i].Part(), words[j].Part()
			var want, got QueryKeys
			want.SetJoin(&join)
			if !got.SetJoinOf(&a, &b) {
				continue
			}
			ofParts++
			// Keys of equal readings may be repeated.
			if slices.Sort(got.Keys[1:]); !slices.Equal(slices.Compact(got.Keys), sorted(want.Keys)) {
				t.Fatalf("the keys of %q and %q are %x by parts, %x by join", texts[i], texts[j], got.Keys,
					want.Keys)
			}
		}
	}
	if all := len(words) * len(words); ofParts < all/2 {
		t.Errorf("keys of %d of %d joins were made from parts; the test needs more", ofParts, all)
	}
}

// sorted sorts all keys except the first, and returns them.
func sorted(keys []uint64) []uint64 {
	slices.Sort(keys[1:])
	return keys
}
