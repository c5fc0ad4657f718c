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
