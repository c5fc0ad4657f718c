package cost

import (
	"errors"
	"math"
)

// Day is a day of a table whose write units are provisioned, and scaled to what is used.
type Day struct {
	// Peak is the share of the day's lines that are written in peakHours, 0 to 1; the others come evenly.
	Peak float64 `json:"peak"`
	// Min and Max bound the units a second, of which Target, 0.2 to 0.9, are to be used.
	Min    float64 `json:"min_units"`
	Max    float64 `json:"max_units"`
	Target float64 `json:"target"`
}

// Check returns an error that says what is wrong with a day.
func (d Day) Check() error {
	switch {
	case !(d.Peak >= 0 && d.Peak <= 1):
		return errors.New("the share in the peak must be 0 to 1")
	case !(d.Min >= 1 && d.Max >= d.Min && d.Max <= 1e7):
		return errors.New("the least units must be 1 or more, and the most as many or more")
	case !(d.Target >= 0.2 && d.Target <= 0.9):
		return errors.New("the share of units that are used must be 0.2 to 0.9")
	}
	return nil
}

// Scaled is what became of a day.
type Scaled struct {
	// UnitHours are paid: in each hour the most units that the table had.
	UnitHours float64 `json:"unit_hours"`
	// Used is the share of them that was used, and Highest the most units that the table had.
	Used    float64 `json:"used"`
	Highest float64 `json:"highest_units"`
	// Throttled is how many seconds writes had to wait, LongestWait how many seconds the longest one took, and Left
	// what was not written when the day ended.
	Throttled   float64 `json:"throttled_seconds"`
	LongestWait float64 `json:"longest_wait_seconds"`
	Left        float64 `json:"units_left"`
	// Increases and Decreases are how often the units were changed.
	Increases int `json:"increases"`
	Decreases int `json:"decreases"`
}

// How Application Auto Scaling follows the use of a table, by the alarms that it makes.
const (
	// minutesAbove are those above the target after which the units are increased, minutesBelow those further below it
	// than margin after which they are decreased.
	minutesAbove, minutesBelow, margin = 2, 15, 0.2
	// freeDecreases a day may come at any time, further ones an hour after the one before.
	freeDecreases, decreaseMinutes = 4, 60
	// peakStart and peakHours are when the peak is.
	peakStart, peakHours = 8, 4
	// negligible are units that are errors of rounding.
	negligible = 1e-6
)

// scaling is a table while a day passes.
type scaling struct {
	day      Day
	capacity float64
	backlog  float64
	// above and below count minutes, and recent has the units a second that were used in the last minutesBelow.
	above, below  int
	recent        []float64
	lastDecreased int
	out           Scaled
}

// Pass returns what becomes of a day on which some units are written. What cannot be written waits. The burst of unused
// units, which AWS does not promise, is left out.
func (d Day) Pass(units float64) Scaled {
	rest := units * (1 - d.Peak) / (24 - peakHours) / 3600
	peak := units * d.Peak / peakHours / 3600
	if d.Peak == 0 {
		peak = units / 24 / 3600
		rest = peak
	}
	s := scaling{day: d, capacity: d.limit(rest)}
	written := 0.0
	for hour := range 24 {
		rate, most := rest, 0.0
		if hour >= peakStart && hour < peakStart+peakHours {
			rate = peak
		}
		for minute := range 60 {
			most = max(most, s.capacity)
			used := s.write(rate)
			written += 60 * used
			s.scale(hour*60+minute, used)
		}
		s.out.UnitHours += most
		s.out.Highest = max(s.out.Highest, most)
	}
	s.out.Left, s.out.Used = s.backlog, written/3600/s.out.UnitHours
	return s.out
}

// limit returns the units of which the target is used by a rate.
func (d Day) limit(rate float64) float64 {
	return min(max(math.Ceil(rate/d.Target-negligible), d.Min), d.Max)
}

// write passes a minute in which so many units come each second, and returns how many are used each second.
func (s *scaling) write(rate float64) (used float64) {
	waited := s.backlog
	used = min(s.capacity, rate+waited/60)
	if s.backlog = waited + 60*(rate-used); s.backlog < negligible {
		s.backlog = 0
	}
	switch {
	case s.backlog > 0:
		s.out.Throttled += 60
	case waited > 0:
		s.out.Throttled += min(60, waited/(s.capacity-rate))
	}
	s.out.LongestWait = max(s.out.LongestWait, s.backlog/s.capacity)
	return used
}

// scale changes the units after a minute, if an alarm says so.
func (s *scaling) scale(minute int, used float64) {
	s.recent = append(s.recent, used)[max(0, len(s.recent)+1-minutesBelow):]
	count := func(n *int, holds bool) {
		if *n++; !holds {
			*n = 0
		}
	}
	count(&s.above, used > s.day.Target*s.capacity)
	count(&s.below, used < (s.day.Target-margin)*s.capacity)
	mayDecrease := s.out.Decreases < freeDecreases || minute-s.lastDecreased >= decreaseMinutes
	most := 0.0
	for _, r := range s.recent {
		most = max(most, r)
	}
	switch {
	case s.above >= minutesAbove && s.day.limit(used) > s.capacity:
		s.capacity, s.above = s.day.limit(used), 0
		s.out.Increases++
	case s.below >= minutesBelow && mayDecrease && s.day.limit(most) < s.capacity:
		s.capacity, s.below, s.lastDecreased = s.day.limit(most), 0, minute
		s.out.Decreases++
	}
}
