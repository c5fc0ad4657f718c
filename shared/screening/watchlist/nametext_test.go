package watchlist

import (
	"slices"
	"testing"
)

func TestNameTexts(t *testing.T) {
	for text, want := range map[string][]string{
		"Amir Velkan (original script: Амир Велкан)":     {"Amir Velkan", "Амир Велкан"},
		"أبو مهاجر (Abu Muhajir; Abou Mouhadjir)":        {"أبو مهاجر", "Abu Muhajir", "Abou Mouhadjir"},
		"Abbas Velkan; Abas Velkan":                      {"Abbas Velkan", "Abas Velkan"},
		"Juan Velkan, III (third)":                       {"Juan Velkan, III (third)"},
		"Velkan Network (شبكة (original script); Shabk)": {"Velkan Network", "شبكة", "Shabk"},
		"Velkan (previously listed as Belkan)":           {"Velkan", "Belkan"},
		"'Abd al-Velkan":                                 {"'Abd al-Velkan"},
		"Velkan (Dalian) Limited":                        {"Velkan (Dalian) Limited"},
		"(Velkan":                                        {"(Velkan"},
		" ; ":                                            nil,
		"":                                               nil,
	} {
		t.Run(text, func(t *testing.T) {
			if got := nameTexts(text); !slices.Equal(got, want) {
				t.Errorf("nameTexts(%q) = %q, want %q", text, got, want)
			}
		})
	}
}

func TestWithoutAcronym(t *testing.T) {
	for text, want := range map[string]string{
		"INVENTED RELIEF FOUNDATION (IRF)":       "INVENTED RELIEF FOUNDATION",
		"AL-VELKAN IN THE NORTHERN ISLES (AVNI)": "AL-VELKAN IN THE NORTHERN ISLES",
		"VELKAN (DALIAN)":                        "",
		"VELKAN (V)":                             "",
		"VELKAN TRADE (VT) LIMITED":              "",
		"VELKAN":                                 "",
	} {
		if got, _ := withoutAcronym(text); got != want {
			t.Errorf("withoutAcronym(%q) = %q, want %q", text, got, want)
		}
	}
}

// Dates that are only about right allow for a year more or less, ranges for each of their years.
func TestUncertainBirths(t *testing.T) {
	for text, want := range map[string][]string{
		"22 Jun 1960":                {"1960-06-22"},
		"Jun 1960":                   {"1960-06"},
		"circa 1960":                 {"1959", "1960", "1961"},
		"circa 12 May 1960":          {"1959", "1960", "1961"},
		"1955 to 1957":               {"1955", "1956", "1957"},
		"circa 1955-1957":            {"1955", "1956", "1957"},
		"01 Jan 1955 to 31 Dec 1956": {"1955", "1956"},
		"unknown":                    nil,
		"":                           nil,
	} {
		var e Entry
		if e.addOFACBirth(text); !slices.Equal(e.BirthDates, want) {
			t.Errorf("addOFACBirth(%q) gives %q, want %q", text, e.BirthDates, want)
		}
	}
	for _, test := range []struct {
		birth unBirth
		want  []string
	}{
		{unBirth{Type: "EXACT", Date: "1960-06-22"}, []string{"1960-06-22"}},
		{unBirth{Type: "APPROXIMATELY", Year: "1960"}, []string{"1959", "1960", "1961"}},
		{unBirth{Type: "BETWEEN", From: "1960", To: "1961"}, []string{"1960", "1961"}},
		{unBirth{Type: "EXACT", Year: "12/13/1399 (Hijri Calendar)"}, nil},
		{unBirth{}, nil},
	} {
		var e Entry
		if e.addBirth(test.birth); !slices.Equal(e.BirthDates, test.want) {
			t.Errorf("addBirth(%+v) gives %q, want %q", test.birth, e.BirthDates, test.want)
		}
	}
}
