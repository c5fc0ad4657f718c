package sampledata

import (
	"bufio"
	"fmt"
	"io"
)

var onboarded = []string{"Compliant", "Compliant", "Compliant", "Compliant", "Compliant", "Compliant",
	"MaintenanceInProgress", "ReviewInProgress", "PendingOffboarding"}

var pending = []string{"OnboardingInProgress", "Unknown", "ClientOffboarded"}

// pool is how many entities there are in a domain.
func (g *Generator) pool(d domain) uint64 {
	if d == domainEntity {
		return uint64(g.opts.Entities)
	}
	return uint64(g.opts.Entities)/50 + uint64(len(pending))
}

// WriteEntities writes the entities that lines refer to and that exist, as JSON Lines of {"id", "lifecycleStatus"}. Not
// all of them are onboarded; those of entity_not_found are not among them.
func (g *Generator) WriteEntities(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for n := range g.pool(domainEntity) {
		writeEntity(out, g.id(domainEntity, n), onboarded[n%uint64(len(onboarded))])
	}
	for n := range g.pool(domainPending) {
		writeEntity(out, g.id(domainPending, n), pending[n%uint64(len(pending))])
	}
	return out.Flush()
}

func writeEntity(w *bufio.Writer, id, status string) {
	fmt.Fprintf(w, "{\"id\":%q,\"lifecycleStatus\":%q}\n", id, status)
}
