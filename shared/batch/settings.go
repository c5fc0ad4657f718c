package batch

import (
	"fmt"
	"strconv"
	"time"

	"sluice/shared/transaction"
)

// Feature is the name of the feature that a tenant must have to use the batch interface.
const Feature = "batch"

// Names of the attributes that carry a tenant's settings from the authorizer to the functions. Functions of different
// releases exchange them: they never change.
const (
	attributeMaxPast    = "maxPast"    // seconds
	attributeMaxFuture  = "maxFuture"  // seconds
	attributeMainEntity = "mainEntity" // a transaction.MainEntityRule
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

// ParseSettings reads what Attributes has written. Other attributes are ignored.
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
		MainEntity: transaction.MainEntityRule(attributes[attributeMainEntity]),
		Retention:  time.Duration(retention) * time.Second,
		Parquet:    attributes[attributeParquet] == "true",
	}, nil
}
