package platform

import (
	"bytes"
	"encoding/json"
)

// MaxReply is the size of the items of a list without pages: Lambda takes replies of 6 MB.
const MaxReply Room = 5 << 20

// Room is how many bytes are left for the items of a reply.
type Room int

// Take makes room smaller by an item, as it is quoted inside the JSON text that the gateway is sent. If the item does not fit,
// full is returned.
func (r *Room) Take(item any, full error) error {
	text, err := json.Marshal(item)
	if err != nil {
		return err
	}
	if *r -= Room(len(text) + bytes.Count(text, []byte(`"`)) + bytes.Count(text, []byte(`\`))); *r < 0 {
		return full
	}
	return nil
}
