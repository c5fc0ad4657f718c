package names

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"sluice/shared/kit/difftest"
)

func TestFoldWords(t *testing.T) {
	for name, want := range map[string]string{
		"Al-Qa'ida": "al qaida",
		"Сергей Викторович Лавров": "sergey viktorovich lavrov",
		"محمد بن سلمان":            "~mKmd bin ~slman",
		"عبد الله":                 "abdullah",
		"عبدالرحمن":                "abd ~rKmn",
		"Abdulrahman":              "abd rahman",
		"Salah Eddine":             "salah din",
		"Аndrei":                   "andrei",
		"김정은":                      "kim jong un",
		"L.X.C Aviation":           "lxc aviation",
		"SiemensAG":                "siemens ag",
		"रजनीकांत":                 "rajanikant",
		"ＦＵＬＬ Ｗidth":               "full width",
		"Müller ß":                 "muller ss",
		"...":                      "",
		"S.A.":                     "s a",
	} {
		t.Run(name, func(t *testing.T) {
			difftest.Equal(t, fmt.Sprintf("foldWords(%q)", name), want, strings.Join(foldWords(name), " "))
		})
	}
}

// All runes in the block of Chinese characters are letters, as foldByCategory assumes.
func TestChineseCharactersAreLetters(t *testing.T) {
	for r := rune(firstHan); r <= lastHan; r++ {
		if !unicode.IsLetter(r) {
			t.Fatalf("%U is no letter", r)
		}
	}
}
