package platform_test

import (
	"errors"
	"testing"

	"sluice/shared/httpapi/platform"
)

// An item takes its JSON, and a byte more for each quotation mark and backslash, which are escaped on their way.
func TestRoom(t *testing.T) {
	full := errors.New("full")
	for room, want := range map[platform.Room]error{15: full, 16: nil, 17: nil} {
		if err := room.Take(map[string]string{"a": `\`}, full); err != want {
			t.Errorf("%v", err)
		}
	}
	room := platform.Room(9)
	if err := errors.Join(room.Take("a", full), room.Take(1, full)); err != nil || room != 3 {
		t.Errorf("%v %d", err, room)
	}
	if err := room.Take(func() {}, full); err == nil || errors.Is(err, full) {
		t.Error(err)
	}
}
