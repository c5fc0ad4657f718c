package match

import "sluice/shared/screening/names"

// opening is a choice of names to compare, with a bit for each word of a query.
type opening struct {
	// words are opened for names with a similar word other than an initial, or with a join.
	words uint64
	// parts are opened only for such names that also have an initial.
	parts uint64
	// initials are the opened words that are also opened for names with their initial.
	initials uint64
	// cost is the number of these names, isComplete reports that no other name can reach the threshold.
	cost       int32
	isComplete bool
}

// choose returns the words to open: names without any of them cannot reach the threshold. It prefers words with few
// names, first for names without initials, then for names with some. Very many names may have the initials of a query,
// so that it is mostly better to open their other words.
func (s *Searcher) choose(q *querySide) opening {
	b := &s.bounds
	var costs [names.MaxWords]int32
	copy(costs[:q.n], b.posts[:q.n])
	var opened opening
	without, with := b.sum, b.sum // the margins of names without any opened word
	for without >= 0 {
		i, cost := cheapest(costs[:q.n])
		if cost == notOpened {
			break
		}
		opened.words |= 1 << i
		opened.cost += cost
		without -= b.best[i] - b.miss[i]
		with -= b.best[i] - b.initial[i]
		costs[i] = notOpened
	}
	if with < 0 {
		opened.isComplete = true
		return opened
	}
	for i := range q.n {
		switch {
		case opened.words>>i&1 == 0:
			costs[i] = b.partPosts[i]
		case b.initial[i] > b.miss[i]:
			costs[i] = s.reach(q, i).best[q.mode].initialPosts
		}
	}
	for with >= 0 {
		i, cost := cheapest(costs[:q.n])
		if cost == notOpened {
			break
		}
		opened.cost += cost
		if costs[i] = notOpened; (opened.words|opened.parts)>>i&1 != 0 {
			opened.initials |= 1 << i
			with -= b.initial[i] - b.miss[i]
			continue
		}
		opened.parts |= 1 << i
		with -= b.best[i] - b.initial[i]
		if b.initial[i] > b.miss[i] {
			costs[i] = s.reach(q, i).best[q.mode].initialPosts
		}
	}
	opened.isComplete = without < 0 && with < 0
	return opened
}

// cheapest returns the index and the value of the first least cost.
func cheapest(costs []int32) (i int, cost int32) {
	cost = costs[0]
	for k, c := range costs {
		if c < cost {
			i, cost = k, c
		}
	}
	return i, cost
}
