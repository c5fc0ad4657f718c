package names

// isFullVowel reports whether a sound is one of the vowels in endings of names.
func isFullVowel(c byte) bool { return c == 'a' || c == 'i' || c == 'o' }

// leastGap is the least of gapCosts.
const leastGap = costDiphthong

// gapCosts sets the costs of gaps at the sounds of a word, gaps[i+1] at sound i, and returns the least.
func gapCosts(sounds []byte, gaps *costRow) int16 {
	n := min(len(sounds), maxSounds)
	sounds = sounds[:n]
	around := vowelBits[sounds[0]&0x7f] // bits for vowels before, at and after sound i
	least := int16(costEnding)
	for i, c := range sounds {
		around = around << 1 & 7
		if i+1 < n {
			around |= vowelBits[sounds[i+1]&0x7f]
		}
		gap := int16(innerGaps[c&0x7f][around&7])
		gaps[i+1] = gap
		least = min(least, gap)
	}
	if n > 1 && sounds[0] == soundJ && sounds[1] == 'e' {
		gaps[1] = costExchange
		least = min(least, costExchange)
	}
	if n > 2 && isFullVowel(sounds[n-1]) && !isVowel(sounds[n-2]) {
		gaps[n] = costEnding
	}
	return least
}

// innerGaps are the costs of gaps at inner sounds, by bits for vowels before, at and after the sound.
var innerGaps = func() (t [128][8]uint8) {
	const before, after = 4, 1
	for c := range t {
		for around := range t[c] {
			cost := uint8(costSound)
			switch {
			case c == soundJ && around&before != 0 && around&after != 0:
				cost = costDiphthong + 10 // the y of Slavic languages
			case c == soundJ:
			case (c == 'i' || c == 'u' || c == 'w') && around&(before|after) != 0:
				cost = costDiphthong
			case isVowel(byte(c)) || c == 'w' || c == 'h':
				cost = costVowel
			}
			t[c][around] = cost
		}
	}
	return t
}()

// vowelBits are 1 for vowels.
var vowelBits = func() (t [128]uint8) {
	for c := range t {
		if isVowel(byte(c)) {
			t[c] = 1
		}
	}
	return t
}()
