package admission

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// newTableUnits are the write units a second that a table on demand takes from its first day on.
	newTableUnits = 4000
	// unitsPerWriter are the write units a second that one function uses: docs/capacity.md.
	unitsPerWriter = 8000
	// slotsInReserve keep the table busy while a batch is between two rounds or chunks.
	slotsInReserve = 2
)

// ParseLimits returns the limits of all pools from a text such as "10/5 0/10/20 30/10": the slots for large batches in
// validation, of all tenants and of one; those in ingestion, with the most that the number is adapted to; and those for
// small batches in each stage. The number in ingestion is fixed unless it is 0: then it begins with what
// warmThroughput, "READ,WRITE" units a second or "" for a new table, needs where one batch has so many writers.
func ParseLimits(text, warmThroughput string, writers int) (map[Pool]Limits, error) {
	var validation, ingestion, small Limits
	n, err := fmt.Sscanf(text, "%d/%d %d/%d/%d %d/%d", &validation.Slots, &validation.PerTenant, &ingestion.Slots,
		&ingestion.PerTenant, &ingestion.Most, &small.Slots, &small.PerTenant)
	if err != nil {
		return nil, fmt.Errorf("SLOTS %q: %d of 7 numbers: %w", text, n, err)
	}
	if ingestion.Slots > 0 {
		ingestion.Most = 0
	} else if ingestion.Slots, err = slotsFor(warmThroughput, writers); err != nil {
		return nil, err
	} else {
		ingestion.Slots = min(ingestion.Slots, ingestion.Most)
	}
	return map[Pool]Limits{
		LargeValidation: validation, SmallValidation: small, LargeIngestion: ingestion, SmallIngestion: small,
	}, nil
}

// slotsFor returns the number of slots that uses the write units of a table.
func slotsFor(warmThroughput string, writers int) (int, error) {
	units := newTableUnits
	if warmThroughput != "" {
		_, write, _ := strings.Cut(warmThroughput, ",")
		var err error
		if units, err = strconv.Atoi(strings.TrimSpace(write)); err != nil {
			return 0, fmt.Errorf("warm throughput %q: %w", warmThroughput, err)
		}
	}
	return units/(unitsPerWriter*max(writers, 1)) + slotsInReserve, nil
}
