package platform

// Announced is what a client may say about a file that it will upload.
type Announced struct {
	// ContentLength is the size of the file in bytes: the upload URL then takes no other one.
	ContentLength *int `json:"contentLength"`
}

// Size returns the announced size, 0 if there is none.
func (a Announced) Size() int64 {
	if a.ContentLength == nil {
		return 0
	}
	return int64(*a.ContentLength)
}

// MaxAnnounced is the size of the largest file that storage takes at once.
const MaxAnnounced = 5 << 30

// CheckSize refuses an announced size that no file may have: one of more than most bytes, or an empty one.
func (a Announced) CheckSize(v *ValidationErrors, most int64) {
	if a.ContentLength != nil {
		v.CheckBetween("contentLength", *a.ContentLength, 1, int(most))
	}
}
