package names

import "testing"

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
