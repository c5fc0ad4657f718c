package evaluate

import (
	"cmp"

	"sluice/shared/policy"
)

// quantity is a value that greaterThan and the like can compare: a number, a day or a moment.
type quantity struct {
	kind   quantityKind
	number number
	// day counts the days since 1970 of a day, and of a moment by the day that it is in UTC.
	day int64
	// second and nanosecond are the time of a moment in its day.
	second, nanosecond int
}

type quantityKind int

const (
	noQuantity quantityKind = iota
	numberQuantity
	dayQuantity
	momentQuantity
	quantityKinds
)

const secondsPerDay = 24 * 60 * 60

// quantityOf returns the quantity that a text is, one of the kind noQuantity if it is none.
func quantityOf(t string) quantity {
	if n, ok := parseNumber(t); ok {
		return quantity{kind: numberQuantity, number: n}
	}
	d, ok := parseDate(t)
	if !ok {
		return quantity{}
	}
	q := quantity{kind: dayQuantity}
	at := d.at.Unix()
	if d.isMoment {
		q.kind, q.nanosecond = momentQuantity, d.at.Nanosecond()
	}
	q.day, q.second = at/secondsPerDay, int(at%secondsPerDay)
	if q.second < 0 {
		q.day, q.second = q.day-1, q.second+secondsPerDay
	}
	return q
}

// compare returns a negative number if q is less than other, 0 if they are equal and a positive one if it is more; not
// ok means that they cannot be compared. A moment is compared with a day by the day that it is in UTC.
func (q *quantity) compare(other *quantity) (order int, ok bool) {
	switch {
	case q.kind == noQuantity || other.kind == noQuantity:
		return 0, false
	case q.kind == numberQuantity && other.kind == numberQuantity:
		return q.number.compare(other.number), true
	case q.kind == numberQuantity || other.kind == numberQuantity:
		return 0, false
	case q.kind == momentQuantity && other.kind == momentQuantity:
		return cmp.Or(cmp.Compare(q.day, other.day), cmp.Compare(q.second, other.second),
			cmp.Compare(q.nanosecond, other.nanosecond)), true
	}
	return cmp.Compare(q.day, other.day), true
}

// extremes are the least and the greatest of several quantities, kind by kind.
type extremes struct {
	least, greatest [quantityKinds]quantity
}

func (x *extremes) add(q quantity) {
	least, greatest := &x.least[q.kind], &x.greatest[q.kind]
	if order, ok := q.compare(least); !ok || order < 0 {
		*least = q
	}
	if order, ok := q.compare(greatest); !ok || order > 0 {
		*greatest = q
	}
}

// comparison is one of the operations greaterThan, greaterThanOrEqual, lessThan and lessThanOrEqual.
type comparison struct {
	// isMore means "greater than" rather than "less than"; isEqual adds "or equal".
	isMore, isEqual bool
}

var comparisons = map[policy.Operation]comparison{
	policy.GreaterThan: {isMore: true}, policy.GreaterThanOrEqual: {isMore: true, isEqual: true},
	policy.LessThan: {}, policy.LessThanOrEqual: {isEqual: true},
}

// isMet reports whether one of the values of r is more, or less, than one of the given ones.
func (o comparison) isMet(r *reading, given *extremes) bool {
	if r.count == 1 {
		return o.isMetBy(r.oneQuantity(), given)
	}
	all := r.extremes()
	from := &all.least
	if o.isMore {
		from = &all.greatest
	}
	for kind := range from {
		if o.isMetBy(&from[kind], given) {
			return true
		}
	}
	return false
}

// isMetBy reports whether one quantity is more, or less, than one of the given ones.
func (o comparison) isMetBy(q *quantity, given *extremes) bool {
	if q.kind == noQuantity {
		return false
	}
	to := &given.greatest
	if o.isMore {
		to = &given.least
	}
	for kind := range to {
		if to[kind].kind == noQuantity {
			continue
		}
		order, ok := q.compare(&to[kind])
		if ok && (order == 0 && o.isEqual || order > 0 && o.isMore || order < 0 && !o.isMore) {
			return true
		}
	}
	return false
}
