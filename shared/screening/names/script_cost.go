package names

import "math"

// scriptDifference is soundCost for the letters of a word of a script without vowels and the sounds of a word in Latin
// letters.
func scriptDifference(letters, sounds []byte, limit int) int {
	if len(letters) == 0 || len(sounds) == 0 {
		return 1000
	}
	longer := max(len(letters), len(sounds))
	most := greatestScriptCost(limit, longer)
	if letterFloors.floor(letters, soundSetOf(sounds))*10/longer > limit ||
		spokenFloors.floor(sounds, soundSetOf(letters))*10/longer > limit {
		return 1000
	}
	var gaps, row [maxSounds + 1]int32
	sum := int32(0)
	for j := range sounds {
		gaps[j] = int32(unwrittenCost(sounds, j))
		sum += gaps[j]
		row[j+1] = sum
	}
	if cost := alignScripts(letters, sounds, &gaps, &row, int32(most)); cost >= 0 {
		return cost * 10 / longer
	}
	return 1000
}

// alignScripts returns the least cost of making the sounds of a word from the letters of a word of a script without
// vowels, or -1 if it is above a limit. The gaps are the costs of sounds without letters, row their sums.
func alignScripts(letters, sounds []byte, gaps, row *[maxSounds + 1]int32, limit int32) int {
	// The places of the row from low to high matter: all others are above the limit.
	low, high := 0, len(sounds)
	for high > 0 && row[high] > limit {
		high--
	}
	for i := range letters {
		gap := int32(writtenCost(letters, i))
		costs := scriptCostsAt(letters, i)
		diagonal := row[low]
		left := diagonal + gap
		row[low] = left
		first, last := -1, -1
		if left <= limit {
			first, last = low, low
		}
		for j := low; j < len(sounds); j++ {
			cost := min(diagonal+int32(costs[sounds[j]&0x7f]), left+gaps[j])
			if j < high {
				diagonal = row[j+1]
				cost = min(cost, diagonal+gap)
			} else {
				diagonal = math.MaxInt16
			}
			row[j+1], left = cost, cost
			if cost <= limit {
				if last = j + 1; first < 0 {
					first = last
				}
			} else if j >= high {
				break
			}
		}
		if first < 0 {
			return -1
		}
		low, high = first, last
	}
	if high < len(sounds) {
		return -1
	}
	return int(row[high])
}

// greatestScriptCost returns the greatest cost of words whose difference is not above a limit, by the sounds of the
// longer word.
func greatestScriptCost(limit, longer int) int { return ((limit+1)*longer - 1) / 10 }

// writtenCost returns the cost of a letter of a script without vowels that is missing in the other word. Long vowels,
// which are written, cost more.
func writtenCost(sounds []byte, i int) int {
	switch c := sounds[i]; c {
	case 'a', soundAyn:
		switch {
		case i == 0 && len(sounds) > 1 && (sounds[1] == 'i' || sounds[1] == 'w'):
			return costUnwritten // it carries the vowel that follows
		case c == soundAyn:
			return costSilent
		case i > 0 && i+1 < len(sounds):
			return costVowel
		}
	case 'i':
		if i > 1 && sounds[i-1] == soundAyn && sounds[i-2] == 'i' {
			return costSilent // i with ayn and i
		}
	case soundFinalY:
		return costSilent
	case soundFinalT:
		return costUnwritten
	case 'h':
		switch {
		case i+1 == len(sounds):
			return costUnwritten
		case i > 0 && isDigraphStart(sounds[i-1]):
			return costLong // such as the h of "Azhar", which Latin letters read as one sound
		}
		return costExchange // aspirates of Urdu
	}
	return costSound
}

// unwrittenCost returns the cost of a sound that is missing in a word of a script without vowels: short vowels are not
// written, diphthongs are.
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
	case c == 'h':
		return costVowel
	case isVowel(c) || c == 'w':
		if i > 0 && isVowel(sounds[i-1]) {
			return costVowel
		}
		if i+1 == len(sounds) {
			return costEnding
		}
		return costLong
	}
	return costSound
}

// scriptCosts are the costs of letters of scripts without vowels and their sounds: i and w are several long vowels. All
// other pairs cost the same as in one script.
var scriptCosts = func() (t [128][128]uint8) {
	t = replaceCosts
	set := func(cost uint8, letter byte, sounds string) {
		for i := range len(sounds) {
			t[letter][sounds[i]] = cost
		}
	}
	set(costUnwritten, 'i', "e")
	set(costUnwritten, 'w', "uov")
	set(costSilent, 'a', "eo")
	set(costUnwritten, soundAyn, "aeiou")
	set(costUnwritten, soundFinalT, "aeiouh")
	set(costUnwritten, soundFinalY, "aie")
	set(0, soundQaf, "k")
	set(0, soundTheh, "t")
	set(0, soundDhal, "dz")
	set(costLong, soundFinalT, "t")
	set(costLong, soundTheh, "s")
	set(costLong, soundDhal, "t")
	set(costLong, soundQaf, "g")
	set(costLong, 'b', "pv")
	set(costLong, 'k', "g")
	set(costLong, soundJ, "gZ")
	set(costLong, 'g', "h")
	set(costExchange, 'g', "X")
	set(costExchange, soundKh, "hg")
	set(costExchange, 'h', "Xg")
	set(costExchange, 's', "z")
	set(costExchange, 'z', "s")
	return t
}()

// scriptCost returns the cost of a sound in place of letter i of a word of a script without vowels.
func scriptCost(letters []byte, i int, sound byte) int {
	return int(scriptCostsAt(letters, i)[sound&0x7f])
}

// scriptCostsAt returns the costs of sounds in place of letter i of a word of a script without vowels: the first letter
// may carry any vowel, the last i may be read as a.
func scriptCostsAt(letters []byte, i int) *[128]uint8 {
	switch letter := letters[i]; {
	case i == 0 && letter == 'a':
		return &firstAlefCosts
	case letter == 'i' && i+1 == len(letters):
		if i == 0 {
			return &loneYehCosts
		}
		return &lastYehCosts
	case letter == 'i' && i > 0:
		return &laterYehCosts
	default:
		return &scriptCosts[letter&0x7f]
	}
}

// firstAlefCosts are the costs of an alef at the beginning of a word, loneYehCosts of a yeh as the whole word,
// laterYehCosts of a yeh in the middle, and lastYehCosts of a yeh at the end.
var firstAlefCosts, loneYehCosts, laterYehCosts, lastYehCosts = func() (alef, lone, later, last [128]uint8) {
	alef, lone, later = scriptCosts['a'], scriptCosts['i'], scriptCosts['i']
	for c := range alef {
		if isVowel(byte(c)) && c != 'a' {
			alef[c] = costUnwritten
		}
	}
	later[soundJ] = costSound
	last = later
	last['a'], lone['a'] = costFinalYeh, costFinalYeh
	return alef, lone, later, last
}()
