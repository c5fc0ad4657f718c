package names

import (
	"math/rand/v2"
	"testing"
)

// gapCost is gapCosts for one sound, spelled out.
func gapCost(sounds []byte, i int) int {
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

// alignWhole is alignSounds without a limit: it fills the whole matrix of costs.
func alignWhole(x, y []byte) int {
	costs := make([][]int, len(x)+1)
	for i := range costs {
		costs[i] = make([]int, len(y)+1)
		for j := range costs[i] {
			switch {
			case i == 0 && j == 0:
				continue
			case i == 0:
				costs[i][j] = costs[i][j-1] + gapCost(y, j-1)
				continue
			case j == 0:
				costs[i][j] = costs[i-1][j] + gapCost(x, i-1)
				continue
			}
			a, b := x[i-1], y[j-1]
			replace := int(replaceCosts[a][b])
			if i == len(x) && j == len(y) && a != b && isFullVowel(a) && isFullVowel(b) {
				replace *= 2 // the last vowels distinguish names
			}
			cost := min(costs[i-1][j-1]+replace, costs[i-1][j]+gapCost(x, i-1), costs[i][j-1]+gapCost(y, j-1))
			if i > 1 && j > 1 && a == y[j-2] && x[i-2] == b {
				cost = min(cost, costs[i-2][j-2]+costExchange)
			}
			costs[i][j] = cost
		}
	}
	return costs[len(x)][len(y)]
}

// The parts of an alignment skipped for a limit, and the shortcuts without one, change no cost up to the limit.
func TestAlignmentWithinItsLimit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	const sounds = "aeiouwJhkgtdszSnr"
	within := 0
	for range 20_000 {
		x := make([]byte, 1+random.IntN(maxSounds))
		for i := range x {
			x[i] = sounds[random.IntN(len(sounds))]
		}
		y := append([]byte{}, x...)
		for range random.IntN(4) {
			switch i := random.IntN(len(y)); random.IntN(4) {
			case 0:
				y[i] = sounds[random.IntN(len(sounds))]
			case 1:
				y[0], y[i] = y[i], y[0]
			case 2:
				y[max(i, 1)-1], y[i] = y[i], y[max(i, 1)-1]
			default:
				y = append(y[:i], y[min(i+1, len(y)-1):]...)
			}
		}
		if random.IntN(2) == 0 {
			x, y = y, x
		}
		want := alignWhole(x, y)
		for _, limit := range []int{0, 50, 100, want - 1, want, want + 1, 4000} {
			got := alignSounds(x, y, int16(limit))
			if want <= limit {
				within++
			}
			if want <= limit && got != want || want > limit && got != -1 {
				t.Fatalf("alignSounds(%s, %s, %d) = %d, want %d, or -1 above the limit", x, y, limit,
					got, want)
			}
		}
	}
	if within < 50_000 {
		t.Errorf("only %d costs were within their limits; the test needs more", within)
	}
}

// The parts of an alignment skipped for a limit change no difference up to the limit.
func TestScriptDifferenceWithinItsLimit(t *testing.T) {
	s := NewSplitter()
	var letters, sounds []Word
	for _, text := range []string{
		"محمد عبد الرحمن يوسف المزروقي فتحي أزهر ايمان ي ا وليد",
		"Muhammad Abdurrahman Yusuf Jusef Mazruqi Fathi Azhar Iman Eman a i Walid Oualid Velkanov",
	} {
		s.Split(text)
		for i := range s.Len() {
			w := NewWord(s.Word(i))
			if w.flags&isAbjad != 0 {
				letters = append(letters, w)
			} else {
				sounds = append(sounds, w)
			}
		}
	}
	equal := 0
	for i := range letters {
		for j := range sounds {
			a, b := &letters[i], &sounds[j]
			exact := scriptDifference(a.sounds[:a.n], b.sounds[:b.n], 2000)
			for limit := range 400 {
				got := scriptDifference(a.sounds[:a.n], b.sounds[:b.n], limit)
				switch {
				case exact <= limit && got != exact:
					t.Fatalf("%s and %s: got %d at the limit %d, want %d", a.sounds[:a.n], b.sounds[:b.n], got, limit,
						exact)
				case exact > limit && got <= limit:
					t.Fatalf("%s and %s: got %d at the limit %d, want more", a.sounds[:a.n], b.sounds[:b.n], got, limit)
				case exact <= limit:
					equal++
				}
			}
		}
	}
	if equal == 0 {
		t.Error("no difference is within a limit")
	}
}
