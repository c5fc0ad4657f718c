package console

import (
	"sync"
	"time"
)

const (
	// meterWindow is the time over which a meter averages, and meterStep that between its samples.
	meterWindow = 5 * time.Second
	meterStep   = 250 * time.Millisecond
)

// meter measures how fast a number of bytes grows. It is safe for concurrent use.
type meter struct {
	mu      sync.Mutex
	bytes   int64
	samples []meterSample
}

type meterSample struct {
	at    time.Time
	bytes int64
}

// begin sets the number and forgets how fast it was.
func (m *meter) begin(now time.Time, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes, m.samples = bytes, append(m.samples[:0], meterSample{now, bytes})
}

// set sets the number. It may fall.
func (m *meter) set(now time.Time, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes = bytes
	if n := len(m.samples); n > 0 && now.Sub(m.samples[n-1].at) < meterStep {
		return
	}
	m.samples = append(m.samples, meterSample{now, bytes})
	m.drop(now)
}

// drop forgets samples that are older than the window.
func (m *meter) drop(now time.Time) {
	old := 0
	for old < len(m.samples)-1 && now.Sub(m.samples[old+1].at) >= meterWindow {
		old++
	}
	m.samples = m.samples[old:]
}

// read returns the number and by how many bytes a second it grew of late.
func (m *meter) read(now time.Time) (bytes int64, perSecond float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(now)
	if len(m.samples) == 0 {
		return m.bytes, 0
	}
	elapsed := now.Sub(m.samples[0].at).Seconds()
	if elapsed < meterStep.Seconds() || elapsed > 2*meterWindow.Seconds() {
		return m.bytes, 0
	}
	return m.bytes, float64(max(0, m.bytes-m.samples[0].bytes)) / elapsed
}
