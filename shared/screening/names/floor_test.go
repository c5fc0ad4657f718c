package names

import (
	"math/rand/v2"
	"testing"
)

// TestFloorsAreNotAboveDifferences compares floors with the differences of words of random sounds.
func TestFloorsAreNotAboveDifferences(t *testing.T) {
	t.Parallel()
	const unlimited = 10_000
	random := rand.New(rand.NewPCG(1, 1))
	alphabet := []byte("aeiouwhbdfgklmnprstvzAHYTDJXSZCcqQG07")
	randomSounds := func() []byte {
		sounds := make([]byte, 1+random.IntN(8))
		for i := range sounds {
			sounds[i] = alphabet[random.IntN(len(alphabet))]
		}
		return sounds
	}
	for range 100_000 {
		x, y := randomSounds(), randomSounds()
		if random.IntN(2) == 0 {
			copy(y, x) // similar words have low costs
		}
		difference := scriptDifference(x, y, unlimited)
		floor := max(letterFloors.floor(x, soundSetOf(y)), spokenFloors.floor(y, soundSetOf(x))) * 10 / max(len(x),
			len(y))
		if floor > difference {
			t.Fatalf("letters %s and sounds %s differ by %d, but their floor is %d", x, y, difference, floor)
		}
	}
}
