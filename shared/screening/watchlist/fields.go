package watchlist

import (
	"strconv"
	"strings"
	"time"
)

// cutDate returns the date of a time in the format of ISO 8601, as far as the source knows it.
func cutDate(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 10 {
		text = text[:10]
	}
	return text
}

// isoDate is cutDate, or "" if the result is not a date: a year, a month or a day.
func isoDate(text string) string {
	date := cutDate(text)
	for _, layout := range []string{"2006-01-02", "2006-01", "2006"} {
		if _, err := time.Parse(layout, date); err == nil {
			return date
		}
	}
	return ""
}

// addCirca adds the year of a date that is only about right, and the years before and after it.
func addCirca(dates []string, date string) []string {
	year, err := strconv.Atoi(date[:4])
	if err != nil {
		return dates
	}
	return addYears(dates, strconv.Itoa(year-1), strconv.Itoa(year+1))
}

// maxYears bounds the range of years that an entry may give for a birth.
const maxYears = 30

// addYears adds a date for each year of a range.
func addYears(dates []string, from, to string) []string {
	first, err := strconv.Atoi(strings.TrimSpace(from))
	if err != nil {
		return dates
	}
	last, err := strconv.Atoi(strings.TrimSpace(to))
	if err != nil || last < first || last-first > maxYears {
		last = first
	}
	for year := first; year <= last; year++ {
		dates = addUnique(dates, strconv.Itoa(year))
	}
	return dates
}

// parseDate reads a date of the remarks of OFAC: "22 Jun 1960", "Jun 1960", "1960".
func parseDate(text string) string {
	text = strings.TrimSpace(text)
	for _, layout := range []struct{ in, out string }{
		{"02 Jan 2006", "2006-01-02"}, {"2 Jan 2006", "2006-01-02"}, {"Jan 2006", "2006-01"}, {"2006", "2006"},
	} {
		if date, err := time.Parse(layout.in, text); err == nil {
			return date.Format(layout.out)
		}
	}
	return ""
}

// Country returns the code of a country, two letters in lower case, or the text in lower case if it is not known.
func Country(text string) string {
	code, _ := ParseCountry(text)
	return code
}

// ParseCountry returns the code of a country, which a text gives as a code of two or three letters (ISO 3166-1) or by a
// name in English. It returns false, and the text in lower case, for any other text.
func ParseCountry(text string) (code string, isKnown bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if code, isName := countryCodes[text]; isName {
		return code, true
	}
	return text, knownCodes[text]
}
