package evaluate

import "time"

// date is a day of the calendar, or a moment.
type date struct {
	// at is the moment or, of a day, its beginning in UTC.
	at time.Time
	// isMoment means that the text had a time and an offset.
	isMoment bool
}

// parseDate reads a full date or a date-time of RFC 3339.
func parseDate(text string) (date, bool) {
	if len(text) < len(time.DateOnly) || text[4] != '-' || text[7] != '-' {
		return date{}, false
	}
	if len(text) == len(time.DateOnly) {
		at, err := time.Parse(time.DateOnly, text)
		return date{at, false}, err == nil
	}
	at, err := time.Parse(time.RFC3339, text)
	return date{at, true}, err == nil
}

// compare returns a negative number if d is before other, 0 if they are equal and a positive one otherwise. Moments are
// compared as such, and a day with the day that a moment is in the time zone.
func (d date) compare(other date, zone *time.Location) int {
	if d.isMoment && other.isMoment {
		return d.at.Compare(other.at)
	}
	return d.day(zone).Compare(other.day(zone))
}

// day returns the beginning in UTC of the day, or of the day that the moment is in the time zone.
func (d date) day(zone *time.Location) time.Time {
	if !d.isMoment {
		return d.at
	}
	year, month, day := d.at.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
