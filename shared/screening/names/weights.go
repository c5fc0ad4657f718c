package names

// Weights of words in hundredths.
const (
	weightOrdinary  = 100
	weightCommon    = 75
	weightShort     = 85
	weightPatronym  = 35
	weightInitial   = 30
	weightParticle  = 12
	weightServant   = 45
	weightTitle     = 8
	weightStop      = 10
	weightGeneric   = 45
	weightTrade     = 65
	weightOneLetter = 30
	weightNumber    = 30
)

func (w *Word) setWeights(text string) {
	length := int(w.n)
	if w.flags&isForeign != 0 {
		length = len(text) / 2
	}
	base := uint16(weightOrdinary)
	if length <= 3 && w.flags&isAbjad == 0 && !isNumber(text) {
		base = weightShort
	}
	person, organisation := base, base
	switch {
	case w.IsInitial():
		person, organisation = weightInitial, weightOneLetter
	case w.class&classTitle != 0:
		person = weightTitle
	case text == "abd":
		person = weightServant // "servant of" a person is another person
	case w.class&classParticle != 0:
		person = weightParticle
	case w.class&classCommon != 0:
		person = weightCommon
	case isPatronym(text):
		person = weightPatronym
	}
	switch {
	case w.IsInitial():
	case w.class&classNumber != 0:
		organisation = weightNumber
	case w.class&classStop != 0:
		organisation = weightStop
	case w.class&classGeneric != 0:
		organisation = weightGeneric
	case w.class&classTrade != 0:
		organisation = weightTrade
	}
	w.Weight = [Modes]uint16{Person: person, Organisation: organisation}
}

func isNumber(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// isRoman reports whether a word is a Roman numeral from II on, frequent in names of funds and ships.
func isRoman(text string) bool {
	if len(text) < 2 || len(text) > 5 {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c != 'i' && c != 'v' && c != 'x' {
			return false
		}
	}
	return true
}

var patronymEndings = []string{"ovich", "evich", "ovych", "evych", "yovych", "ovna", "evna", "ivna", "yivna", "ovic",
	"evic", "ovitch",
	"evitch", "owicz", "ewicz", "ovits", "avich", "auna", "eevna", "ichna", "inichna", "ievich", "ievna"}

// isPatronym reports whether a word is a patronym of Russian, Ukrainian or Belarusian.
func isPatronym(text string) bool {
	if len(text) < 7 {
		return false
	}
	switch text[len(text)-2:] {
	case "ch", "na", "ic", "cz", "ts": // the last letters of patronymEndings
	default:
		return false
	}
	for _, ending := range patronymEndings {
		if len(text) > len(ending) && text[len(text)-len(ending):] == ending {
			return true
		}
	}
	return false
}
