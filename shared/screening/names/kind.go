package names

// Kind is how two words correspond.
type Kind uint8

const (
	// Different words do not correspond.
	Different Kind = iota
	// Exact words are equal.
	Exact
	// Spelling variants sound the same.
	Spelling
	// Edited words differ by few letters.
	Edited
	// Vowels: the words have the same consonants.
	Vowels
	// Script: the consonants of a word from a script without vowels.
	Script
	// Meaning: the words mean the same, in one language or in two.
	Meaning
	// Initial: one word is the first letter of the other.
	Initial
	// Joined words are written as one in one name and as two in the other.
	Joined
)

// String names a kind as explanations do.
func (k Kind) String() string {
	switch k {
	case Exact:
		return "exact"
	case Spelling:
		return "sounds the same"
	case Edited:
		return "misspelt"
	case Vowels:
		return "sounds alike"
	case Script:
		return "transliterated"
	case Meaning:
		return "means the same"
	case Initial:
		return "initial"
	case Joined:
		return "written as one"
	}
	return "different"
}
