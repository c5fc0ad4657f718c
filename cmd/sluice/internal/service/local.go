package service

import (
	"errors"
	"fmt"
	"io/fs"

	"sluice/internal/localcloud"
)

// FindLocalCloud reads the descriptor of the local cloud that runs on a data folder. If data is "" it looks in the
// default folder; if no local cloud runs there, that is not an error and the descriptor is nil.
func FindLocalCloud(data string) (*localcloud.Descriptor, error) {
	dir := data
	if dir == "" {
		dir = localcloud.DefaultDataDir
	}
	d, err := localcloud.Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && data == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no local cloud runs on %s: start one with 'sluice local --data %s'", data, data)
	case err != nil:
		return nil, err
	}
	return &d, nil
}
