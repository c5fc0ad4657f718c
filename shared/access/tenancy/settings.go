// Package tenancy has the settings of a tenant that its operator makes.
package tenancy

import (
	"fmt"
	"strconv"
	"time"
)

// BatchFeature is the name of the feature that a tenant must have to use the batch interface.
const BatchFeature = "batch"

// Settings are the rules of a tenant for its transactions. A batch keeps the settings of its creation.
type Settings struct {
	// MaxPast is how long before the receipt time created_at may be; 0 means no limit.
	MaxPast time.Duration
	// MaxFuture is how long after the receipt time created_at may be.
	MaxFuture time.Duration
	// MainEntity decides which role of a transaction must be an onboarded entity.
	MainEntity MainEntityRule
	// Retention is how long after the receipt time stored lines are visible; 0 means for ever.
	Retention time.Duration
	// Parquet means that the accepted lines are written as Parquet once the batch is processed.
	Parquet bool
}

// ExpiryOf returns when a line that was received at a time expires, in whole seconds; the zero time if it never does.
func (s Settings) ExpiryOf(receivedAt time.Time) time.Time {
	if s.Retention == 0 {
		return time.Time{}
	}
	return receivedAt.Add(s.Retention).Truncate(time.Second)
}

// MainEntityRule says which role of a line must be filled by an onboarded entity. The zero value is EitherParty.
type MainEntityRule string

const (
	// EitherParty accepts the sender or, if the sender is unknown, the receiver as the main entity.
	EitherParty MainEntityRule = ""

	// ByPaymentType requires the receiver of a payin, and the sender of everything else.
	ByPaymentType MainEntityRule = "payment_type"
)

// Names of the attributes that carry a tenant's settings from the authorizer to the functions. Functions of different
// releases exchange them: they never change.
const (
	attributeMaxPast    = "maxPast"    // seconds
	attributeMaxFuture  = "maxFuture"  // seconds
	attributeMainEntity = "mainEntity" // a MainEntityRule
	attributeRetention  = "retention"  // seconds; absent for ever, as in releases without it
	attributeParquet    = "parquet"    // "true", or absent
)

// Attributes returns the settings as strings, which ParseSettings reads.
func (s Settings) Attributes() map[string]string {
	attributes := map[string]string{
		attributeMaxPast:    strconv.FormatInt(int64(s.MaxPast/time.Second), 10),
		attributeMaxFuture:  strconv.FormatInt(int64(s.MaxFuture/time.Second), 10),
		attributeMainEntity: string(s.MainEntity),
	}
	if s.Retention > 0 {
		attributes[attributeRetention] = strconv.FormatInt(int64(s.Retention/time.Second), 10)
	}
	if s.Parquet {
		attributes[attributeParquet] = "true"
	}
	return attributes
}

// ParseSettings is the inverse of Attributes. Other attributes are ignored.
func ParseSettings(attributes map[string]string) (Settings, error) {
	maxPast, err := strconv.ParseInt(attributes[attributeMaxPast], 10, 64)
	if err != nil {
		return Settings{}, fmt.Errorf("attribute %s: %w", attributeMaxPast, err)
	}
	maxFuture, err := strconv.ParseInt(attributes[attributeMaxFuture], 10, 64)
	if err != nil {
		return Settings{}, fmt.Errorf("attribute %s: %w", attributeMaxFuture, err)
	}
	var retention int64
	if text := attributes[attributeRetention]; text != "" {
		if retention, err = strconv.ParseInt(text, 10, 64); err != nil {
			return Settings{}, fmt.Errorf("attribute %s: %w", attributeRetention, err)
		}
	}
	return Settings{
		MaxPast:    time.Duration(maxPast) * time.Second,
		MaxFuture:  time.Duration(maxFuture) * time.Second,
		MainEntity: MainEntityRule(attributes[attributeMainEntity]),
		Retention:  time.Duration(retention) * time.Second,
		Parquet:    attributes[attributeParquet] == "true",
	}, nil
}
