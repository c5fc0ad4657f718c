package sampledata

import "math/bits"

// random is splitmix64: fast, and good enough to look random. Every line, ID and choice has a stream of its own, so
// that any of them can be made again without those before it.
type random struct{ state uint64 }

const golden = 0x9E3779B97F4A7C15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (r *random) next() uint64 {
	r.state += golden
	return mix(r.state)
}

// below returns a number from 0 to n-1.
func (r *random) below(n uint64) uint64 {
	high, _ := bits.Mul64(r.next(), n)
	return high
}

// chance is true in so many of a hundred cases.
func (r *random) chance(percent uint64) bool { return r.below(100) < percent }

func pick[T any](r *random, from []T) T { return from[r.below(uint64(len(from)))] }

// domain keeps the streams of different things apart.
type domain uint64

const (
	domainLine domain = iota + 1
	domainPlace
	domainSlots
	domainPayment
	domainTransaction
	domainModification
	domainShared // modification IDs of duplicates
	domainEntity
	domainPending // entities that are not onboarded
	domainNobody  // entities that nobody has
)

func stream(seed uint64, d domain, n uint64) random {
	return random{mix(mix(seed+uint64(d)*golden) + n*golden)}
}

func (g *Generator) random(d domain, n uint64) random { return stream(g.opts.Seed, d, n) }

const hex = "0123456789abcdef"

// uuid appends a version 4 UUID.
func (r *random) uuid(b []byte) []byte {
	high, low := r.next()&^(0xF<<12)|4<<12, r.next()&^(3<<62)|2<<62
	var u [36]byte
	at := 0
	for i := 60; i >= 0; i -= 4 {
		if at == 8 || at == 13 {
			u[at] = '-'
			at++
		}
		u[at] = hex[high>>i&15]
		at++
	}
	for i := 60; i >= 0; i -= 4 {
		if at == 18 || at == 23 {
			u[at] = '-'
			at++
		}
		u[at] = hex[low>>i&15]
		at++
	}
	return append(b, u[:]...)
}

// id is the n-th ID of a domain.
func (g *Generator) id(d domain, n uint64) string {
	r := g.random(d, n)
	return string(r.uuid(nil))
}
