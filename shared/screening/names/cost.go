package names

// Costs of differences between sounds, in hundredths of a sound.
const (
	costSound     = 100
	costVowel     = 50
	costDiphthong = 30
	// costEnding is for the last vowel of a word, which distinguishes Mario from Maria and Hassan from Hassani.
	costEnding    = 110
	costUnwritten = 6
	// costSilent is for a written letter that may be silent.
	costSilent = 25
	// costFinalYeh is for an a in place of the last i of a word.
	costFinalYeh   = 45
	costLong       = 15
	costExchange   = 60
	costFirstSound = 40
	// costShort and costShorter are factors, in tenths, for differences of words of few sounds and of still fewer.
	costShort   = 13
	costShorter = 18
)

// soundCost returns the difference of two words in thousandths of the longer one, or 1000 if it is above a limit.
func soundCost(a, b *Word, limit int) int {
	if a.n == 0 || b.n == 0 {
		return 1000
	}
	x, y := a.sounds[:a.n], b.sounds[:b.n]
	extra := extraOf(x, y)
	most := extra.greatestCost(limit)
	// Each missing vowel costs at least costDiphthong.
	if vowels := countVowels(x) - countVowels(y); max(vowels, -vowels)*costDiphthong > most {
		return 1000
	}
	cost := alignSounds(x, y, int16(most))
	if cost < 0 || cost > most {
		return 1000
	}
	return extra.difference(cost)
}

// extraCost is the cost of different beginnings of two words beyond their alignment.
type extraCost struct {
	shorter, longer int
	// first is the cost of different first sounds, second its increase in words of few sounds.
	first, second int
}

func extraOf(x, y []byte) extraCost {
	e := extraCost{shorter: min(len(x), len(y)), longer: max(len(x), len(y))}
	if x[0] == y[0] || beginsWithGlide(x, y) || beginsWithGlide(y, x) {
		return e
	}
	if replaceCosts[x[0]&0x7f][y[0]&0x7f] > 50 {
		e.first = costFirstSound
	}
	if e.shorter <= shortWord && (x[0] == soundJ || y[0] == soundJ) {
		e.second = costFirstSound
	}
	return e
}

// difference returns the difference of the words if aligning them has a cost.
func (e *extraCost) difference(cost int) int {
	cost += e.first
	if e.shorter <= shortWord {
		cost = cost*costShort/10 + e.second // short words have many neighbours
	}
	if e.shorter < shortWord {
		cost = cost * costShorter / 10
	}
	return cost * 10 / e.longer
}

// greatestCost returns the greatest cost of an alignment whose difference is not above a limit.
func (e *extraCost) greatestCost(limit int) int {
	most := ((limit+1)*e.longer - 1) / 10
	if e.shorter < shortWord {
		most = ((most+1)*10 - 1) / costShorter
	}
	if e.shorter <= shortWord {
		most = ((most-e.second+1)*10 - 1) / costShort
	}
	return most - e.first
}

// countVowels returns the number of vowels.
func countVowels(sounds []byte) int {
	n := 0
	for _, c := range sounds {
		if isVowel(c) {
			n++
		}
	}
	return n
}

// beginsWithGlide reports whether one word begins with the je of "Jelena" and the other with the e of "Elena".
func beginsWithGlide(a, b []byte) bool {
	return len(a) > 1 && a[0] == soundJ && a[1] == 'e' && (b[0] == 'e' || b[0] == 'i')
}

// shortWord is the greatest number of sounds of words in which differences are rarely errors.
const shortWord = 4

// replaceCosts are the costs of pairs of related sounds; all other pairs cost a sound.
var replaceCosts = func() (t [128][128]uint8) {
	for a := range t {
		for b := range t[a] {
			if a != b {
				t[a][b] = costSound
			}
		}
	}
	set := func(cost uint8, pairs ...string) {
		for _, p := range pairs {
			t[p[0]][p[1]], t[p[1]][p[0]] = cost, cost
		}
	}
	set(20, "ei", "ou", "wv", "sz", "sc", "zc", "kg")
	set(25, "ae", "SC", "SZ", "Xh", "fv", "Ss", "Zz", "cC", "JZ", "gh")
	set(30, "uw", "ow", "Sc", "Kk", "Xk", "Xg", "td", "bp", "JC", "sZ", "zZ")
	set(45, "iJ", "ao", "eo", "Jg", "zd", "Ck", "kc", "iu", "sC", "zJ")
	set(55, "CX")
	set(60, "ai", "au", "eu", "io", "mn", "Js", "ts", "tz")
	// Letters of scripts without vowels that are often confused.
	set(20, "Yi", "YH", "Ha", "Hh", "qk")
	set(30, "Dd", "Dz", "Qt", "Qs", "qg", "qG", "Aa", "Ya")
	return t
}()

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
