package names

// Costs of differences between sounds, in hundredths of a sound.
const (
	costSound     = 100
	costVowel     = 50
	costDiphthong = 30
	// costEnding is that of the last vowel of a word, which tells Mario from Maria and Hassan from Hassani.
	costEnding    = 110
	costUnwritten = 6
	// costSilent is that of a written letter that need not be heard.
	costSilent = 25
	// costFinalYeh is that of an a for the last i of a word.
	costFinalYeh   = 45
	costLong       = 15
	costExchange   = 60
	costFirstSound = 40
	// costShort and costShorter are tenths with which differences of words of few sounds and of still fewer count.
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
	// Each vowel that the other word lacks costs at least that of a diphthong.
	if vowels := countVowels(x) - countVowels(y); max(vowels, -vowels)*costDiphthong > most {
		return 1000
	}
	cost := alignSounds(x, y, int16(most))
	if cost < 0 || cost > most {
		return 1000
	}
	return extra.difference(cost)
}

// extraCost is what is added to the cost of aligning two words.
type extraCost struct {
	shorter, longer int
	// first is the cost of different first sounds, second what is added to it in words of few sounds.
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

// greatestCost returns the greatest cost of aligning the words with which their difference is not above a limit.
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

// costRow is a row of alignSounds: the least costs of making each beginning of a word of one of the other.
type costRow [maxSounds + 1]int16

// unreachable is the cost of what costs more than the limit; adding to it does not overflow.
const unreachable = 1 << 13

var unreachableRow = func() (r costRow) {
	for i := range r {
		r[i] = unreachable
	}
	return r
}()

// alignSounds returns the least cost of making y of x, or -1 if it is above a limit. A cost never becomes less on the
// way, and each sound that one of the rests of the words has more than the other costs at least leastGap. So only
// places of a row matter whose costs leave that much below the limit: those from low to high in the row before, and
// from low2 to high2 in that before it. All others are unreachable.
func alignSounds(x, y []byte, limit int16) int {
	rows := [3]costRow{unreachableRow, unreachableRow, unreachableRow}
	prev2, prev, row := &rows[0], &rows[1], &rows[2]
	low, high, low2, high2 := 0, 0, 0, -2
	var gaps costRow // gaps[j] is the cost of leaving out the sound of y before place j
	for j := range y {
		gaps[j+1] = gapCost(y, j)
	}
	for prev[0] = 0; high < len(y) && prev[high]+gaps[high+1] <= limit; high++ {
		prev[high+1] = prev[high] + gaps[high+1]
	}
	before := byte(0) // the sound of x before a; no sound is 0
	for i, a := range x {
		*row = unreachableRow
		gap, costs := gapCost(x, i), &replaceCosts[a&0x7f]
		first, last := maxSounds+1, -2
		to := max(high+1, high2+2) // an exchange of neighbours goes on from the row before the last
		for j := min(low, low2+2); j <= len(y); j++ {
			cost := prev[j] + gap
			if j > 0 {
				b := y[j-1]
				cost = min(cost, prev[j-1]+int16(costs[b&0x7f]), row[j-1]+gaps[j])
				if b == before && j > 1 && a == y[j-2] {
					cost = min(cost, prev2[j-2]+costExchange)
				}
			}
			if rest := len(x) - i - 1 - len(y) + j; int(cost)+max(rest, -rest)*leastGap <= int(limit) {
				row[j], last = cost, j
				first = min(first, j)
			} else if j >= to {
				break
			}
		}
		if last < 0 && high < 0 {
			return -1
		}
		low2, high2, low, high, before = low, high, first, last, a
		prev2, prev, row = prev, row, prev2
	}
	cost := prev[len(y)]
	if i, j := len(x)-1, len(y)-1; isFullVowel(x[i]) && isFullVowel(y[j]) && x[i] != y[j] {
		// The last vowels tell names apart. The row that prev2 and prev were made of are those before.
		cost = min(prev2[j]+2*int16(replaceCosts[x[i]&0x7f][y[j]&0x7f]), prev2[j+1]+gapCost(x, i), prev[j]+gaps[j+1])
		if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
			cost = min(cost, row[j-1]+costExchange)
		}
	}
	if cost > limit {
		return -1
	}
	return int(cost)
}

// beginsWithGlide reports whether one word begins with the je of "Jelena" and the other with the e of "Elena".
func beginsWithGlide(a, b []byte) bool {
	return len(a) > 1 && a[0] == soundJ && a[1] == 'e' && (b[0] == 'e' || b[0] == 'i')
}

// shortWord is the number of sounds of words in which a difference is rarely an error.
const shortWord = 4

// isFullVowel reports whether a sound is one of the vowels that endings of names consist of.
func isFullVowel(c byte) bool { return c == 'a' || c == 'i' || c == 'o' }

// leastGap is the least of gapCost.
const leastGap = costDiphthong

// gapCost returns the cost of a sound that the other word lacks.
func gapCost(sounds []byte, i int) int16 {
	if isPlain[sounds[i]&0x7f] {
		return costSound
	}
	return softGapCost(sounds, i)
}

// softGapCost is gapCost of a sound that is not plain.
func softGapCost(sounds []byte, i int) int16 {
	c := sounds[i]
	switch {
	case c == soundJ && i == 0 && len(sounds) > 1 && sounds[1] == 'e':
		return costExchange
	case c == soundJ && i > 0 && i+1 < len(sounds) && isVowel(sounds[i-1]) && isVowel(sounds[i+1]):
		return costDiphthong + 10 // the y of Slavic languages
	case isVowel(c) || c == 'w':
		if isFullVowel(c) && i+1 == len(sounds) && i > 1 && !isVowel(sounds[i-1]) {
			return costEnding
		}
		if (c == 'i' || c == 'u' || c == 'w') && (i > 0 && isVowel(sounds[i-1]) ||
			i+1 < len(sounds) && isVowel(sounds[i+1])) {
			return costDiphthong
		}
		return costVowel
	case c == 'h':
		return costVowel
	}
	return costSound
}

// isPlain has the sounds that always cost a sound if the other word lacks them.
var isPlain = func() (t [128]bool) {
	for c := range t {
		t[c] = !isVowel(byte(c)) && c != soundJ && c != 'w' && c != 'h'
	}
	return t
}()

// replaceCosts are the costs of the pairs of sounds that languages exchange; all other pairs cost a sound.
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
	// Letters of scripts without vowels that are confused with each other.
	set(20, "Yi", "YH", "Ha", "Hh", "qk")
	set(30, "Dd", "Dz", "Qt", "Qs", "qg", "qG", "Aa", "Ya")
	return t
}()
