// Package entity holds the parties that tenants onboard: the lifecycle of an entity, and the drafts that change it.
//
// An entity has two parts that different writers own. Its lifecycle status decides whether transactions may name it;
// imports from the tenant's own onboarding write it directly. Its profile is everything else, and only drafts change
// it. Package entity/entitydb stores both, entity/entityhttp serves them.
package entity

import (
	"context"
	"slices"
	"strings"
)

// LifecycleStatus is the state of an entity's onboarding (docs/contract/platform.md).
type LifecycleStatus string

// The lifecycle statuses, in the order of an entity's life.
const (
	Unknown               LifecycleStatus = "Unknown"
	OnboardingInProgress  LifecycleStatus = "OnboardingInProgress"
	MaintenanceInProgress LifecycleStatus = "MaintenanceInProgress"
	Compliant             LifecycleStatus = "Compliant"
	ReviewInProgress      LifecycleStatus = "ReviewInProgress"
	PendingOffboarding    LifecycleStatus = "PendingOffboarding"
	ClientOffboarded      LifecycleStatus = "ClientOffboarded"
)

var lifecycleStatuses = []LifecycleStatus{Unknown, OnboardingInProgress, MaintenanceInProgress, Compliant,
	ReviewInProgress, PendingOffboarding, ClientOffboarded}

// StatusNames lists the lifecycle statuses for a message.
func StatusNames() string {
	names := make([]string, len(lifecycleStatuses))
	for i, s := range lifecycleStatuses {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

// IsKnown reports whether s is one of the lifecycle statuses.
func (s LifecycleStatus) IsKnown() bool { return slices.Contains(lifecycleStatuses, s) }

// IsOnboarded reports whether an entity in this status is fully onboarded, so that transactions may name it.
func (s LifecycleStatus) IsOnboarded() bool {
	switch s {
	case Compliant, MaintenanceInProgress, ReviewInProgress, PendingOffboarding:
		return true
	}
	return false
}

// StatusStore reads the lifecycle statuses of entities. It is safe for concurrent use.
type StatusStore interface {
	// Lookup returns the status of those of the given entities that exist, by the IDs as they are given, as of every
	// write acknowledged before. An ID may be given more than once, and a UUID in any case.
	Lookup(ctx context.Context, tenant string, ids []string) (map[string]LifecycleStatus, error)
}
