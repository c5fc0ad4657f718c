package main

import (
	"crypto/rand"

	"sluice/shared/entity"
	"sluice/shared/validation"
)

// readDirectory reads the known entities.
func readDirectory(path string) (*validation.Directory, error) {
	var secret [16]byte
	rand.Read(secret[:])
	d := validation.NewDirectory(secret)
	return d, readEntities(path, func(e entity.Entity) error {
		state := validation.NotOnboarded
		if e.LifecycleStatus.Onboarded() {
			state = validation.Onboarded
		}
		d.Add([]byte(e.ID), state)
		return nil
	})
}
