package names

import (
	"bytes"
	"strings"
)

// Part is one of the two words of a join, reduced to the properties for the keys of the join, which are so made without
// the join. It has no pointers.
type Part struct {
	// hash and length belong to the text.
	hash uint64
	// shape is the shape of the word, with shapes classes.
	shape uint64
	// readings are the contributions of the consonants to hashes in the readings of words in Latin letters, counts the
	// numbers of consonants as the second word of a join. Readings that do not differ equal plainReading.
	readings [latinReadings]partReading
	counts   [latinReadings]uint8
	// n is the number of sounds, first and last are the sounds at the ends, consonants is the number in the first
	// skeleton.
	n, first, last, consonants, length, shapes uint8
	// differing has a bit for each reading that may differ.
	differing uint8
	// isFirst and isSecond report that the keys of joins with the word in that place can be made from parts.
	isFirst, isSecond bool
}

// partReading is the contribution of a word's consonants, in the classes of scriptClass and in one reading, to the hash
// of a join as its first word and as its second.
type partReading struct{ first, second uint64 }

// latinReadings is the number of readings of words in Latin letters except bareReading.
const latinReadings = bareReading

// latinTables are the classes of those readings.
var latinTables = [latinReadings]*latinReading{&plainLatin, &vowelLatin, &glideLatin}

// Part returns the word as a part of joins.
func (w *Word) Part() Part {
	p := Part{hash: w.Hash, length: w.length, n: w.n, consonants: w.consonants[0]}
	if w.n == 0 || w.flags&(isAbjad|isForeign) != 0 || w.class&classNumber != 0 {
		return p
	}
	sounds := w.sounds[:w.n]
	p.first, p.last = sounds[0], sounds[w.n-1]
	// In a join, an article may have its l in the second word, and the reading of a final h depends on the number of
	// sounds.
	p.isFirst = !isVowel(p.first) || w.n > 1 && sounds[1] != 'l'
	p.isSecond = w.n > 2 || p.last != 'h'
	p.shape, p.shapes = w.countShape()
	if bytes.IndexByte(sounds, 'w') >= 0 {
		p.differing |= 1 << vowelReading
	}
	if bytes.IndexByte(sounds, soundJ) >= 0 {
		p.differing |= 1 << glideReading
	}
	for r, table := range latinTables {
		if reading(r) == plainReading || p.differing>>r&1 != 0 {
			p.readings[r], p.counts[r] = table.readPart(sounds)
		} else {
			p.readings[r], p.counts[r] = p.readings[plainReading], p.counts[plainReading]
		}
	}
	return p
}

// readPart reads the consonants of a part, and counts them for the second word of a join.
func (t *latinReading) readPart(sounds []byte) (p partReading, n uint8) {
	before := uint64(0)
	if t[sounds[0]] == 0 {
		p.first = 1
	}
	for _, c := range sounds {
		class := t[c]
		factor := hashFactors[min(class, 1)]
		before = p.second
		p.first = p.first*factor + uint64(class)
		p.second = p.second*factor + uint64(class)
		n += min(class, 1)
	}
	if sounds[len(sounds)-1] == 'h' { // silent at the end of a join
		p.second = before
		n--
	}
	return p, n
}

// SetJoinOf is SetJoin for the join of two words, without making the join. It returns false and sets no keys if they do
// not follow from the parts alone.
func (k *QueryKeys) SetJoinOf(a, b *Part) bool {
	if !a.isFirst || !b.isSecond || a.n+b.n > maxSounds {
		return false
	}
	k.Keys = append(k.Keys[:0], mix(textSeed^joinHash(a.hash, b.hash, b.length)))
	k.ends[KeyOfWhole] = len(k.Keys)
	isDoubled := isOneSound(a.last, b.first)
	consonants := a.consonants + b.consonants
	if isDoubled && isRepeatedConsonant(b.first) {
		consonants--
	}
	if consonants >= minJoinConsonants {
		k.Keys = append(k.Keys, mix(shapeSeed^joinShape(a, b, isDoubled)))
		differing := 1<<plainReading | a.differing | b.differing
		for r, table := range latinTables {
			if differing>>r&1 == 0 {
				continue
			}
			rest, count := b.readings[r].second, b.counts[r]
			if class := table[b.first]; isDoubled && class != 0 {
				count--
				rest -= uint64(class) * hashPowers[count]
			}
			hash := a.readings[r].first*hashPowers[count] + rest
			k.Keys = append(k.Keys, mix(^uint64(scriptJoinSeed)^hash))
		}
	}
	k.ends[KeyOfConsonants], k.ends[KeyOfEdits] = len(k.Keys), len(k.Keys)
	return true
}

// joinShape returns the shape of a join.
func joinShape(a, b *Part, isDoubled bool) uint64 {
	rest, count := b.shape, b.shapes
	if isDoubled || isVowel(a.last) && isVowel(b.first) {
		count--
		rest -= uint64(shapeClass[b.first]) * hashPowers[count]
	}
	return a.shape*hashPowers[count] + rest
}

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
