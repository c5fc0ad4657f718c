package names

// costRow is a row of alignFreely: the least costs of making each beginning of a word from a beginning of the other.
type costRow [maxSounds + 1]int16

// unreachable is the cost of alignments above the limit; adding to it does not overflow.
const unreachable = 1 << 13

var unreachableRow = func() (r costRow) {
	for i := range r {
		r[i] = unreachable
	}
	return r
}()

// alignSounds returns the least cost of making y from x, or -1 if it is above a limit. Most pairs of words have the
// same number of sounds, or a difference of one. The least cost is nearly always the cost without gaps, or with the one
// gap: other ways have two more gaps, or an exchange beside a gap. The words are aligned freely only if these may cost
// less.
func alignSounds(x, y []byte, limit int16) int {
	best, others := int16(unreachable), int16(0)
	switch len(x) - len(y) {
	case 0:
		best, others = costInPlace(x, y), 2*leastGap
	case 1:
		best, others = costOfOneGap(y, x), leastGap+min(2*leastGap, costExchange)
	case -1:
		best, others = costOfOneGap(x, y), leastGap+min(2*leastGap, costExchange)
	}
	if best > others && others <= limit {
		best = min(best, alignFreely(x, y, min(limit, best-1)))
	}
	if best > limit {
		return -1
	}
	return int(best)
}

// costInPlace returns the least cost of making y from x of the same length without gaps.
func costInPlace(x, y []byte) int16 {
	y = y[:len(x)]
	cost, before := int16(0), int16(0) // up to a sound, and up to the sound before it
	last := len(x) - 1
	for i, a := range x {
		b := y[i]
		next := cost + int16(replaceCosts[a&0x7f][b&0x7f])
		if i == last {
			next += endingCost(x, y)
		}
		if a != b && i > 0 && a == y[i-1] && b == x[i-1] {
			next = min(next, before+costExchange)
		}
		before, cost = cost, next
	}
	return cost
}

// costOfOneGap returns the least cost of making y from x, which has one sound less, by one gap and replacements.
func costOfOneGap(x, y []byte) int16 {
	y = y[:len(x)+1]
	var gaps costRow
	gapCosts(y, &gaps)
	rest := int16(0) // the cost of the sounds of x from i on and the sounds of y behind the gap
	for i, a := range x {
		rest += int16(replaceCosts[a&0x7f][y[i+1]&0x7f])
	}
	start, ending := int16(0), endingCost(x, y)
	best := gaps[1] + rest + ending
	for i, a := range x {
		rest -= int16(replaceCosts[a&0x7f][y[i+1]&0x7f])
		start += int16(replaceCosts[a&0x7f][y[i]&0x7f])
		if i+1 == len(x) {
			ending = 0 // the gap is at the last sound of y
		}
		best = min(best, start+gaps[i+2]+rest+ending)
	}
	return best
}

// endingCost is the additional cost of different last sounds beyond replaceCosts: the last vowels distinguish names.
func endingCost(x, y []byte) int16 {
	a, b := x[len(x)-1], y[len(y)-1]
	if isFullVowel(a) && isFullVowel(b) {
		return int16(replaceCosts[a&0x7f][b&0x7f])
	}
	return 0
}

// alignFreely returns the least cost of making y from x with any gaps, or any cost above a limit if that is above it.
// For words of the same length, it need not find ways without gaps. Costs never fall along a way, and each surplus
// sound in the rest of one word costs at least the least gap. So only places of a row matter whose costs leave that
// much below the limit: low to high in the row before, and low2 to high2 in the row before that. All others are
// unreachable.
func alignFreely(x, y []byte, limit int16) int16 {
	var gapsX, gaps costRow
	leastX, leastY := gapCosts(x, &gapsX), gapCosts(y, &gaps)
	if len(x) == len(y) && leastX+leastY > limit {
		return unreachable
	}
	least := int(min(leastX, leastY))
	rows := [3]costRow{unreachableRow, unreachableRow, unreachableRow}
	prev2, prev, row := &rows[0], &rows[1], &rows[2]
	low, high, low2, high2 := 0, 0, 0, -2
	for prev[0] = 0; high < len(y) && prev[high]+gaps[high+1] <= limit; high++ {
		prev[high+1] = prev[high] + gaps[high+1]
	}
	before := byte(0) // the sound of x before a; no sound is 0
	for i, a := range x {
		*row = unreachableRow
		gap, costs := gapsX[i+1], &replaceCosts[a&0x7f]
		first, last := maxSounds+1, -2
		to := min(max(high+1, high2+2), len(y)) // an exchange of neighbours continues the row before the last
		from := min(low, low2+2)
		diagonal, left := int16(unreachable), int16(unreachable)
		if from > 0 {
			diagonal = prev[from-1]
		}
		for j, rest := from, len(x)-i-1-len(y)+from; j <= len(y); j, rest = j+1, rest+1 {
			above := prev[j]
			cost := above + gap
			if j > 0 {
				b := y[j-1]
				cost = min(cost, diagonal+int16(costs[b&0x7f]), left+gaps[j])
				if b == before && j > 1 && a == y[j-2] {
					cost = min(cost, prev2[j-2]+costExchange)
				}
			}
			diagonal, left = above, unreachable
			if int(cost)+max(rest, -rest)*least <= int(limit) {
				row[j], left, last = cost, cost, j
				first = min(first, j)
			} else if j >= to {
				break
			}
		}
		if last < 0 && high < 0 {
			return unreachable
		}
		low2, high2, low, high, before = low, high, first, last, a
		prev2, prev, row = prev, row, prev2
	}
	cost := prev[len(y)]
	if extra := endingCost(x, y); extra > 0 {
		// The last place again, with prev2 and prev from the rows before.
		i, j := len(x)-1, len(y)-1
		cost = min(prev2[j]+2*extra, prev2[j+1]+gapsX[i+1], prev[j]+gaps[j+1])
		if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
			cost = min(cost, row[j-1]+costExchange)
		}
	}
	return cost
}
