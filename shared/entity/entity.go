// Package entity holds the entities of the onboarding system: their life cycle, and what "fully onboarded" means.
package entity

import (
	"context"
	"slices"
)

// MaxIDBytes is the longest entity ID, in bytes of UTF-8.
const MaxIDBytes = 255

// LifecycleStatus is where an entity stands in onboarding (platform contract, section 3.4).
type LifecycleStatus string

const (
	Unknown               LifecycleStatus = "Unknown"
	OnboardingInProgress  LifecycleStatus = "OnboardingInProgress"
	MaintenanceInProgress LifecycleStatus = "MaintenanceInProgress"
	Compliant             LifecycleStatus = "Compliant"
	ReviewInProgress      LifecycleStatus = "ReviewInProgress"
	PendingOffboarding    LifecycleStatus = "PendingOffboarding"
	ClientOffboarded      LifecycleStatus = "ClientOffboarded"
)

var lifecycleStatuses = []LifecycleStatus{Unknown, OnboardingInProgress, MaintenanceInProgress, Compliant, ReviewInProgress,
	PendingOffboarding, ClientOffboarded}

// IsKnown reports whether s is one of the contract's values.
func (s LifecycleStatus) IsKnown() bool { return slices.Contains(lifecycleStatuses, s) }

// IsOnboarded reports whether an entity in this state counts as fully onboarded, so that transactions may name it.
func (s LifecycleStatus) IsOnboarded() bool {
	switch s {
	case Compliant, MaintenanceInProgress, ReviewInProgress, PendingOffboarding:
		return true
	}
	return false
}

// StatusEntry is what batch validation needs to know of an entity.
type StatusEntry struct {
	ID              string          `json:"id"`
	LifecycleStatus LifecycleStatus `json:"lifecycleStatus"`
}

// StatusStore answers which entities a tenant has. It is safe for concurrent use.
type StatusStore interface {
	// Lookup returns the state of those of the given entities that exist. The IDs need not be distinct.
	Lookup(ctx context.Context, tenant string, ids []string) (map[string]LifecycleStatus, error)
	// Import stores entities, replacing the state of those that exist. It can be repeated.
	Import(ctx context.Context, tenant string, entities []StatusEntry) error
}
