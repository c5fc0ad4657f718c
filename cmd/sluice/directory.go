package main

import (
	"sluice/shared/entity"
	"sluice/shared/validation"
)

// readDirectory reads the known entities.
func readDirectory(path string) (*validation.Directory, error) {
	d := validation.NewDirectory()
	return d, readEntities(path, func(e entity.StatusEntry) error {
		state := validation.NotOnboarded
		if e.LifecycleStatus.IsOnboarded() {
			state = validation.Onboarded
		}
		d.Add(e.ID, state)
		return nil
	})
}
