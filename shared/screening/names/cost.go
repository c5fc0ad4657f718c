package names

// Costs of differences between sounds, in hundredths of a sound.
const (
	costSound     = 100
	costVowel     = 50
	costDiphthong = 30
	// costEnding is that of the last vowel of a word, which tells Mario from Maria and Hassan from Hassani.
	costEnding     = 110
	costUnwritten  = 6
	costLong       = 15
	costExchange   = 60
	costFirstSound = 40
)

// soundCost returns the difference of two words in thousandths of the longer one, or 1000 if it is above a limit.
func soundCost(a, b *Word, limit int) int {
	if a.n == 0 || b.n == 0 {
		return 1000
	}
	if b.flags&isAbjad != 0 && a.flags&isAbjad == 0 {
		a, b = b, a
	}
	// If only one word is from a script without vowels, it is a.
	abjad := (a.flags^b.flags)&isAbjad != 0
	x, y := a.sounds[:a.n], b.sounds[:b.n]
	// The limit of the cost; what follows the table only adds to it.
	limit = limit * max(len(x), len(y)) / 10
	var gaps [maxSounds]int16
	vowels := 0
	for j := range y {
		gaps[j] = int16(gapCost(y, j))
		if abjad {
			gaps[j] = int16(unwrittenCost(y, j))
		}
		if isVowel(y[j]) {
			vowels++
		}
	}
	if !abjad {
		for _, c := range x {
			if isVowel(c) {
				vowels--
			}
		}
		// Each vowel that the other word lacks costs at least that of a diphthong.
		if max(vowels, -vowels)*costDiphthong > limit {
			return 1000
		}
	}
	var rows [3][maxSounds + 1]int16
	prev2, prev, row := &rows[0], &rows[1], &rows[2]
	for j := range y {
		prev[j+1] = prev[j] + gaps[j]
	}
	least := int16(0) // of the preceding row
	for i := 1; i <= len(x); i++ {
		gap := int16(gapCost(x, i-1))
		if abjad {
			gap = int16(writtenCost(x, i-1))
		}
		row[0] = prev[0] + gap
		best := row[0]
		costs := &replaceCosts[x[i-1]&0x7f]
		for j := 1; j <= len(y); j++ {
			c := prev[j-1]
			if x[i-1] != y[j-1] {
				replace := int16(costs[y[j-1]&0x7f])
				if abjad {
					replace = int16(replaceCost(x[i-1], y[j-1], abjad))
				} else if i == len(x) && j == len(y) && isFullVowel(x[i-1]) && isFullVowel(y[j-1]) {
					replace *= 2
				}
				c += replace
			}
			c = min(c, prev[j]+gap, row[j-1]+gaps[j-1])
			if i > 1 && j > 1 && !abjad && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				c = min(c, prev2[j-2]+costExchange)
			}
			row[j] = c
			best = min(best, c)
		}
		// An exchange of neighbours goes on from the row before.
		if int(best) > limit && int(least) > limit-costExchange {
			return 1000
		}
		least = best
		prev2, prev, row = prev, row, prev2
	}
	cost := int(prev[len(y)])
	if x[0] != y[0] && replaceCost(x[0], y[0], abjad) > 50 && !abjad {
		cost += costFirstSound
	}
	if n := min(len(x), len(y)); n <= shortWord && !abjad {
		// Short words have many neighbours.
		if cost = cost * 13 / 10; x[0] != y[0] && (x[0] == soundJ || y[0] == soundJ) {
			cost += costFirstSound
		}
		if n < shortWord {
			cost = cost * 18 / 10
		}
	}
	return cost * 10 / max(len(x), len(y))
}

// shortWord is the number of sounds of words in which a difference is rarely an error.
const shortWord = 4

// isFullVowel reports whether a sound is one of the vowels that endings of names consist of.
func isFullVowel(c byte) bool { return c == 'a' || c == 'i' || c == 'o' }

// gapCost returns the cost of a sound that the other word lacks.
func gapCost(sounds []byte, i int) int {
	c := sounds[i]
	switch {
	case isVowel(c) || c == 'w':
		if isFullVowel(c) && i+1 == len(sounds) && i > 1 && !isVowel(sounds[i-1]) {
			return costEnding
		}
		if (c == 'i' || c == 'u' || c == 'w') && (i > 0 && isVowel(sounds[i-1]) || i+1 < len(sounds) && isVowel(sounds[i+1])) {
			return costDiphthong
		}
		return costVowel
	case c == 'h':
		return costVowel
	}
	return costSound
}

// writtenCost returns the cost of a letter of a script without vowels that the other word lacks: long vowels are written
// for a reason.
func writtenCost(sounds []byte, i int) int {
	switch sounds[i] {
	case 'a':
		if i > 0 {
			return costVowel
		}
	case 'h':
		if i+1 == len(sounds) {
			return costUnwritten
		}
	}
	return costSound
}

// unwrittenCost returns the cost of a sound that a word of a script without vowels lacks: short vowels are not written,
// diphthongs are.
func unwrittenCost(sounds []byte, i int) int {
	c := sounds[i]
	switch {
	case i == 0:
		return costSound // a word that begins with a vowel is written with a letter for it
	case c == 'a' || c == 'e':
		if i > 0 && i+1 == len(sounds) && !isVowel(sounds[i-1]) {
			return costLong
		}
		return costUnwritten
	case isVowel(c) || c == 'w':
		if i > 0 && isVowel(sounds[i-1]) {
			return costVowel
		}
		if i+1 == len(sounds) {
			return costEnding
		}
		return costLong
	}
	return gapCost(sounds, i)
}

// replaceCosts are the costs of the pairs of sounds that languages exchange; all other pairs cost a sound.
var replaceCosts = func() (t [128][128]uint8) {
	for a := range t {
		for b := range t[a] {
			t[a][b] = costSound
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
	set(45, "iJ", "ao", "eo", "Jg", "zd", "CX", "Ck", "kc", "iu", "sC", "zJ")
	set(60, "ai", "au", "eu", "io", "mn", "Js", "ts", "tz")
	return t
}()

// replaceCost returns the cost of sound b in the place of a. If a is of a script without vowels, its i and w stand for
// several long vowels, and its a for any vowel at the beginning of a word.
func replaceCost(a, b byte, abjad bool) int {
	if abjad {
		switch {
		case a == 'i' && b == 'e', a == 'w' && (b == 'u' || b == 'o' || b == 'v' || b == 'w'), a == 'a' && isVowel(b):
			return costUnwritten
		case a == 'd' && b == 'z', a == 't' && b == 's', a == 'b' && b == 'p', a == 'k' && b == 'g', a == 'J' && b == 'g':
			return costLong
		case a == 'X' && b == 'h', a == 'h' && b == 'X', a == 's' && b == 'z', a == 'z' && b == 's', a == 'h' && b == 'g', a == 'g' && b == 'h', a == 'X' && b == 'g':
			return costExchange
		}
	}
	return int(replaceCosts[a&0x7f][b&0x7f])
}
