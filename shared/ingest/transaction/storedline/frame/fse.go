package frame

import "math/bits"

// fseTable codes symbols by finite states (RFC 8878, section 4.1). Symbols are coded from the last one to the first,
// and each moves the coder from one state to another one, with the bits by which a decoder gets back.
type fseTable struct {
	log uint
	// states are the states of each symbol, one symbol after the other. A state has bit log set.
	states []uint16
	// symbols has for each symbol how to find its next state.
	symbols [64]fseSymbol
	// known has a bit for each symbol that the table can code.
	known uint64
}

// fseSymbol tells that (state+threshold)>>16 bits of a state are written, and what remains of it is, with base, the
// place of the next state.
type fseSymbol struct {
	threshold uint32
	base      int32
}

const (
	minFSELog = 5
	maxFSELog = 9
)

// newFSETable returns the table of a distribution, which has for each symbol its share of 1<<log states. It is -1 for
// one state at the end of the table.
func newFSETable(shares []int, log uint) (*fseTable, error) {
	t := &fseTable{log: log, states: make([]uint16, 1<<log)}
	var next [64]int
	total := 0
	for symbol, share := range shares {
		n := max(share, -share)
		next[symbol] = total
		total += n
		if n == 0 {
			continue
		}
		t.known |= 1 << symbol
		// Symbols with n states write as many bits as bring a state below 2n, to one of n.
		most := log - uint(bits.Len(uint(n-1)))
		if n > 1 {
			most++
		}
		t.symbols[symbol] = fseSymbol{uint32(most<<16) - uint32(n<<most), int32(next[symbol] - n)}
	}
	if total != len(t.states) {
		return nil, errTables
	}
	for at, symbol := range spread(shares, len(t.states)) {
		t.states[next[symbol]] = uint16(len(t.states) + at)
		next[symbol]++
	}
	return t, nil
}

// spread returns the symbol of each state.
func spread(shares []int, size int) []byte {
	symbols, end := make([]byte, size), size
	for symbol, share := range shares {
		if share == -1 {
			end--
			symbols[end] = byte(symbol)
		}
	}
	at := 0
	for symbol, share := range shares {
		for ; share > 0; share-- {
			symbols[at] = byte(symbol)
			at = (at + size/2 + size/8 + 3) % size
			for at >= end {
				at = (at + size/2 + size/8 + 3) % size
			}
		}
	}
	return symbols
}

// start returns the state after the first symbol that is coded, the last one of the text.
func (t *fseTable) start(symbol uint8) uint16 {
	s := &t.symbols[symbol&63]
	count := (s.threshold + 1<<15) >> 16
	return t.states[int32((count<<16-s.threshold)>>count)+s.base]
}

// code adds the bits by which a decoder gets from the next state back to this one, and returns the next state.
func (t *fseTable) code(w bitWriter, state uint16, symbol uint8) (bitWriter, uint16) {
	s := &t.symbols[symbol&63]
	count := (uint32(state) + s.threshold) >> 16
	return w.addLowest(uint64(state), uint(count)), t.states[int32(uint32(state)>>count)+s.base]
}

// finish adds the last state, with which a decoder begins.
func (t *fseTable) finish(w bitWriter, state uint16) bitWriter {
	return w.addLowest(uint64(state), t.log)
}

// readFSETable reads the description of a table of at most so many symbols, and returns what follows it.
func readFSETable(b []byte, symbols int) (*fseTable, []byte, error) {
	r := bitReader{b: b}
	log := r.read(4) + minFSELog
	if log > maxFSELog {
		return nil, nil, errTables
	}
	var shares []int
	for remaining := 1 << log; remaining > 0; {
		share := r.readShare(remaining)
		shares = append(shares, share)
		remaining -= max(share, -share)
		for repeat := 3; share == 0 && repeat == 3; {
			repeat = r.read(2)
			shares = append(shares, make([]int, repeat)...)
		}
		if len(shares) > symbols || r.at > 8*len(b) {
			return nil, nil, errTables
		}
	}
	t, err := newFSETable(shares, uint(log))
	return t, b[(r.at+7)/8:], err
}

// readShare reads the share of a symbol, from -1 to what remains. The lower of these numbers have one bit less where
// there are fewer of them than the bits can tell.
func (r *bitReader) readShare(remaining int) int {
	count := bits.Len(uint(remaining + 1))
	shorter := 1<<count - (remaining + 2)
	if n := r.peek(count - 1); n < shorter {
		r.at += count - 1
		return n - 1
	}
	n := r.read(count)
	if n >= 1<<(count-1) {
		n -= shorter
	}
	return n - 1
}
