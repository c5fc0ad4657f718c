// Package capacity limits what is written to the tables of the local cloud, in the units of DynamoDB: one for each KB
// of an item, for the table and for each of its indexes. It is a proxy between the clients and the DynamoDB server,
// which says what each write has consumed.
//
// "DynamoDB burst capacity" in AWS's documents: up to 300 seconds of unused units are kept. Here a table begins with
// those of one second. A write is admitted while anything is left, and can consume more than that, as the size of what
// it replaces is known only afterwards; the following ones wait for it. Each index has as many units as its table, and
// while one has none left, nothing is written to the table, whether or not the index would change.
package capacity

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"sync"
	"time"
)

// burst is how many seconds of unused units a table keeps.
const burst = 300

// Table is a table whose writes are limited.
type Table struct {
	Name string
	// Units is the number of write units a second, of the table and of each index; 0 for no limit.
	Units float64
	// PartitionUnits is the number of write units a second of the items that share a partition key, which is the
	// attribute PartitionKey; 0 for no limit.
	PartitionUnits float64
	PartitionKey   string
	// Provisioned says that the table has provisioned capacity, which gives its errors another name than on-demand
	// capacity does.
	Provisioned bool
}

// Limiter counts the write units of tables. It is safe for concurrent use.
type Limiter struct {
	now func() time.Time
	// onThrottled is called for each table of which nothing was left for a request.
	onThrottled func(table, operation string)

	mu     sync.Mutex
	tables map[string]*table
}

// table is a table with what is left of its units.
type table struct {
	Table
	// left holds the units of each index by its name, and those of the table itself under "".
	left map[string]*bucket
	// partitions holds the units of partition keys by their text in requests.
	partitions map[string]*bucket
}

// place is where an item is: in a table, under the text of its partition key.
type place struct{ table, partition string }

// maxPartitions is how many partition keys of a table are kept in memory. Those that nothing is written to are
// forgotten when there are more.
const maxPartitions = 10_000

// bucket is a token bucket of write units.
type bucket struct {
	// units are those left at the time at. A negative number was consumed in advance.
	units float64
	at    time.Time
}

// New returns the limiter of some tables. The others are not limited. onThrottled is called for each table of which
// nothing was left for a request, or for a part of it.
func New(now func() time.Time, onThrottled func(table, operation string), tables ...Table) *Limiter {
	l := &Limiter{now: now, onThrottled: onThrottled, tables: map[string]*table{}}
	for _, t := range tables {
		l.tables[t.Name] = &table{t, map[string]*bucket{"": {units: t.Units, at: now()}}, map[string]*bucket{}}
	}
	return l
}

// consume consumes units for a write that begins. If nothing is left of one of the tables or partition keys it consumes
// none, and returns the tables of which, or of a key of which, nothing is left.
func (l *Limiter) consume(units map[place]float64) (exhausted []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range units {
		t := l.tables[p.table]
		if t != nil && !(t.hasAny(l.now()) && t.partitionHasAny(p.partition, l.now())) {
			exhausted = append(exhausted, p.table)
		}
	}
	if len(exhausted) > 0 {
		return exhausted
	}
	for p, n := range units {
		if t := l.tables[p.table]; t != nil {
			t.left[""].units -= n
			if b := t.partitions[p.partition]; b != nil {
				b.units -= n
			}
		}
	}
	return nil
}

// partitionHasAny reports whether anything is left of a partition key, which keeps unused units for a second.
func (t *table) partitionHasAny(partition string, now time.Time) bool {
	if t.PartitionUnits == 0 {
		return true
	}
	full := func(b *bucket) float64 {
		return min(b.units+now.Sub(b.at).Seconds()*t.PartitionUnits, t.PartitionUnits)
	}
	b := t.partitions[partition]
	if b == nil {
		if len(t.partitions) >= maxPartitions {
			maps.DeleteFunc(t.partitions, func(_ string, b *bucket) bool { return full(b) >= t.PartitionUnits })
		}
		b = &bucket{units: t.PartitionUnits}
		t.partitions[partition] = b
	} else {
		b.units = full(b)
	}
	b.at = now
	return b.units >= 1
}

// hasAny reports whether anything is left of the table and of each index.
func (t *table) hasAny(now time.Time) bool {
	if t.Units == 0 {
		return true
	}
	for _, b := range t.left {
		if t.refill(b, now); b.units < 1 {
			return false
		}
	}
	return true
}

// chargePartition takes the units that a write has consumed of a partition key, whatever is left.
func (l *Limiter) chargePartition(p place, units float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tables[p.table]; t != nil {
		if b := t.partitions[p.partition]; b != nil {
			b.units -= units
		}
	}
}

// charge takes the units that a write has consumed, of the table or of an index, whatever is left.
func (l *Limiter) charge(name, index string, units float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tables[name]
	if t == nil {
		return
	}
	b := t.left[index]
	if b == nil {
		b = &bucket{units: t.Units, at: l.now()}
		t.left[index] = b
	}
	t.refill(b, l.now())
	b.units -= units
}

// refill adds the units of the time that has passed.
func (t *table) refill(b *bucket, now time.Time) {
	b.units = min(b.units+now.Sub(b.at).Seconds()*t.Units, max(burst*t.Units, 1))
	b.at = now
}

// isProvisioned reports whether a table whose writes are limited has provisioned capacity.
func (l *Limiter) isProvisioned(name string) bool {
	t := l.tables[name] // the map does not change
	return t != nil && t.Provisioned
}

// unitsOf returns the units that writing a new item consumes: one for each KB or part of it.
func unitsOf(item json.RawMessage) float64 {
	var attributes map[string]json.RawMessage
	if json.Unmarshal(item, &attributes) != nil {
		return 1
	}
	size := 0
	for name, value := range attributes {
		size += len(name) + sizeOf(value)
	}
	return max(math.Ceil(float64(size)/1024), 1)
}

// sizeOf returns the size of a value in bytes, as "DynamoDB item sizes and formats" describes it.
func sizeOf(value json.RawMessage) int {
	var v struct {
		S, N   *string
		B      *string
		SS, NS []string
		BS     []string
		L      []json.RawMessage
		M      map[string]json.RawMessage
	}
	if json.Unmarshal(value, &v) != nil {
		return 1
	}
	size := 0
	switch {
	case v.S != nil:
		return len(*v.S)
	case v.N != nil:
		return sizeOfNumber(*v.N)
	case v.B != nil:
		return base64.StdEncoding.DecodedLen(len(*v.B))
	case v.L != nil:
		for _, element := range v.L {
			size += 1 + sizeOf(element)
		}
		return 3 + size
	case v.M != nil:
		for name, element := range v.M {
			size += 1 + len(name) + sizeOf(element)
		}
		return 3 + size
	}
	for _, s := range v.SS {
		size += len(s)
	}
	for _, n := range v.NS {
		size += sizeOfNumber(n)
	}
	for _, b := range v.BS {
		size += base64.StdEncoding.DecodedLen(len(b))
	}
	return max(size, 1) // a Boolean and null have one byte
}

// sizeOfNumber returns the size of a number: about one byte for two digits, and one more.
func sizeOfNumber(n string) int { return (len(n)+1)/2 + 1 }
